import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { leaseMs, openLife } from '../testing/life.js';
import { cents, failed, succeeded, testHandle, testModel, testProvider } from '../testing/runs.js';

const theirs = Buffer.from('{"images":[{"url":"https://partner.example.com/1.png"}]}');

const life = await openLife();

const keep = (runId: string, epoch: number, by = life.first) =>
  by.dispatching.keepOutput(runId, epoch, 'application/json', theirs);
const copying = (runId: string, by = life.second) => by.dispatching.readForCopying(runId);

describe('an output that is kept while its assets are copied', () => {
  it.each(['submitting', 'running'] as const)(
    'can be copied by any worker from then on: %s',
    async (stage) => {
      const { runId, epoch, spaceId } = await life.run(stage);
      expect(await life.restAfter(async () => expect(await keep(runId, epoch)).toBe(true), runId, 2000)).toBe(
        2000,
      );
      expect(await copying(runId)).toMatchObject({
        epoch,
        provider: testProvider,
        model: testModel,
        facts: { assets: [] },
        mediaType: 'application/json',
        body: theirs,
      });
      const { run, outbox } = await life.written(runId);
      expect(run).toMatchObject({ stage: 'copying', lease_until: null, outcome: null });
      expect(outbox).toMatchObject({ queue: 'assets', dispatched: true });
      // Nothing of it is a result yet, and its slot is taken still.
      expect(await life.first.answers.result(spaceId, testModel, runId)).toMatchObject({ output: null });
      expect(await life.counters(spaceId)).toMatchObject({ inflight: 1, held: cents(1) });
    },
  );

  it('is kept once', async () => {
    const { runId, epoch } = await life.run('running');
    const kept = await Promise.all([life.first, life.second, life.first].map((by) => keep(runId, epoch, by)));
    expect(kept.filter((won) => won)).toHaveLength(1);
    expect(await keep(runId, epoch)).toBe(false);
  });

  it('is refused to a worker that slept past its lease, and after the outcome', async () => {
    const { runId, epoch } = await life.run('submitting');
    const finder = life.at('61 minutes');
    expect(await finder.dispatching.claim(runId, leaseMs)).toMatchObject({
      kind: 'abandoned',
      epoch: epoch + 1,
    });
    const given = await life.written(runId);
    expect(await keep(runId, epoch)).toBe(false);
    expect(await life.written(runId)).toEqual(given);
    await finder.dispatching.finish(runId, epoch + 1, failed('provider_error'));
    const completed = await life.written(runId);
    expect(await keep(runId, epoch)).toBe(false);
    expect(await keep(runId, epoch + 1)).toBe(false);
    expect(await life.written(runId)).toEqual(completed);
  });

  it('is none of a run that was not sent', async () => {
    const { runId, epoch } = await life.run('claimed');
    expect(await keep(runId, epoch)).toBe(false);
    expect((await life.written(runId))['payloads']).toHaveLength(1);
  });

  it('ends polling and dispatching: whoever still holds the run as such changes nothing', async () => {
    const { runId, epoch } = await life.run('copying');
    const before = await life.written(runId);
    expect(await life.second.dispatching.claim(runId, leaseMs)).toMatchObject({ kind: 'gone' });
    expect(await life.second.dispatching.readForPoll(runId)).toMatchObject({ stage: 'copying' });
    expect(await life.second.dispatching.saveHandle(runId, epoch, testHandle, 0)).toBeNull();
    expect(await life.second.dispatching.postpone(runId, epoch, 0)).toBeNull();
    expect(await life.second.dispatching.beginSubmission(runId, epoch, leaseMs)).toBe(false);
    expect(await life.second.dispatching.noteCancelSent(runId, epoch)).toBe(false);
    await life.second.dispatching.notePoll(runId, epoch, 3);
    await life.second.dispatching.renewLeases([{ runId, epoch }], leaseMs);
    expect(await life.written(runId)).toEqual(before);
  });

  it('comes back when the copying worker died, and one of two that copy it writes the outcome', async () => {
    const { runId, epoch } = await life.run('copying');
    await life.first.dispatching.moveDue(runId, 120_000);
    expect(await life.overdueAt('1 hour')).toContain(runId);
    expect(await copying(runId, life.at('1 hour'))).toMatchObject({ epoch });
    const results = await Promise.all(
      [life.first, life.second, life.at('1 hour')].map((by) =>
        by.dispatching.finish(runId, epoch, succeeded),
      ),
    );
    expect(results.filter(({ won }) => won)).toHaveLength(1);
    expect(await copying(runId)).toBeNull();
    expect((await life.written(runId))['ledger']).toHaveLength(1);
  });

  it('gives way to the result', async () => {
    const { runId, epoch, spaceId } = await life.run('copying');
    await life.first.dispatching.finish(runId, epoch, succeeded);
    expect(await life.first.answers.result(spaceId, testModel, runId)).toMatchObject({
      output: { body: Buffer.from('{"done":true}') },
    });
    expect((await life.written(runId))['payloads']).toHaveLength(2);
  });

  it('is there for copying in no other stage', async () => {
    for (const stage of ['claimed', 'submitting', 'running', 'completed'] as const) {
      expect(await copying((await life.run(stage)).runId)).toBeNull();
    }
    expect(await copying(v7())).toBeNull();
  });

  it('may lie in the store, where it is needed until the result replaces it', async () => {
    const { runId, epoch } = await life.run('running');
    const key = `runs/${runId}/reply`;
    const kept = () => life.first.dispatching.keepOutput(runId, epoch, 'application/json', { storedAs: key });
    await expect(kept()).rejects.toThrow('stored objects');
    expect((await life.written(runId))['run']).toMatchObject({ stage: 'running' });

    await life.first.objects.note(key, runId, 60);
    expect(await kept()).toBe(true);
    expect(await copying(runId)).toMatchObject({ body: { storedAs: key } });
    expect((await life.written(runId))['objects']).toMatchObject([{ key, delete_at: 'infinity' }]);
    await life.first.dispatching.finish(runId, epoch, succeeded);
    expect(await life.second.objects.takeDue(10)).toEqual([key]);
  });
});
