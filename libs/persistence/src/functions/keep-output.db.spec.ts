import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { leaseMs, openRunFixture } from '../testing/run-fixture.js';
import { cents, failed, succeeded, testHandle, testModel, testProvider } from '../testing/runs.js';

const theirs = Buffer.from('{"images":[{"url":"https://provider.example.com/1.png"}]}');

const fixture = await openRunFixture();

const keep = (runId: string, epoch: number, by = fixture.first) =>
  by.runs.keepOutput(runId, epoch, 'application/json', theirs);
const copying = (runId: string, by = fixture.second) => by.runs.readForCopying(runId);

describe('an output that is stored while its assets are copied', () => {
  it.each(['submitting', 'running'] as const)('can then be copied by any worker: %s', async (stage) => {
    const { runId, epoch, spaceId } = await fixture.run(stage);
    expect(
      await fixture.restAfter(async () => expect(await keep(runId, epoch)).toBe(true), runId, 2000),
    ).toBe(2000);
    expect(await copying(runId)).toMatchObject({
      epoch,
      provider: testProvider,
      model: testModel,
      facts: { assets: [] },
      mediaType: 'application/json',
      body: theirs,
    });
    const { run, outbox } = await fixture.written(runId);
    expect(run).toMatchObject({ stage: 'copying', lease_until: null, outcome: null });
    expect(outbox).toMatchObject({ queue: 'assets', dispatched: true });
    // It is not a result yet, and the run still holds its slot.
    expect(await fixture.first.runReader.result(spaceId, testModel, runId)).toMatchObject({ output: null });
    expect(await fixture.counters(spaceId)).toMatchObject({ inflight: 1, held: cents(1) });
  });

  it('is stored once', async () => {
    const { runId, epoch } = await fixture.run('running');
    const kept = await Promise.all(
      [fixture.first, fixture.second, fixture.first].map((by) => keep(runId, epoch, by)),
    );
    expect(kept.filter((won) => won)).toHaveLength(1);
    expect(await keep(runId, epoch)).toBe(false);
  });

  it('is refused from a worker that was suspended past its lease, and after the outcome', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    const finder = fixture.at('61 minutes');
    expect(await fixture.swept(runId, finder)).toMatchObject({
      kind: 'abandoned',
      epoch: epoch + 1,
    });
    const given = await fixture.written(runId);
    expect(await keep(runId, epoch)).toBe(false);
    expect(await fixture.written(runId)).toEqual(given);
    await finder.finish(runId, epoch + 1, failed('provider_error'));
    const completed = await fixture.written(runId);
    expect(await keep(runId, epoch)).toBe(false);
    expect(await keep(runId, epoch + 1)).toBe(false);
    expect(await fixture.written(runId)).toEqual(completed);
  });

  it('is refused for a run that was not sent', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    expect(await keep(runId, epoch)).toBe(false);
    expect((await fixture.written(runId))['payloads']).toHaveLength(1);
  });

  it('ends polling and dispatching: late calls of these stages change nothing', async () => {
    const { runId, epoch } = await fixture.run('copying');
    const before = await fixture.written(runId);
    expect(await fixture.claim(runId, fixture.second)).toBeNull();
    expect(await fixture.second.runs.readForPoll(runId)).toMatchObject({ stage: 'copying' });
    expect(await fixture.second.runs.saveHandle(runId, epoch, testHandle, 0)).toBeNull();
    expect(await fixture.second.dispatch.postpone(runId, epoch, 0)).toBeNull();
    expect(await fixture.second.dispatch.beginSubmission(runId, epoch, leaseMs)).toBe(false);
    expect(await fixture.second.runs.noteCancelSent(runId, epoch)).toBe(false);
    await fixture.second.runs.notePoll(runId, epoch, 3);
    await fixture.second.dispatch.renewLeases([{ runId, epoch }], leaseMs);
    expect(await fixture.written(runId)).toEqual(before);
  });

  it('comes back after the copying worker died, and only one of two copying workers writes the outcome', async () => {
    const { runId, epoch, spaceId: workspaceId } = await fixture.run('copying');
    await fixture.first.runs.moveDue({ runId, workspaceId }, 120_000);
    expect(await fixture.overdueAt('1 hour')).toContain(runId);
    expect(await copying(runId, fixture.at('1 hour'))).toMatchObject({ epoch });
    const results = await Promise.all(
      [fixture.first, fixture.second, fixture.at('1 hour')].map((by) => by.finish(runId, epoch, succeeded)),
    );
    expect(results.filter(({ won }) => won)).toHaveLength(1);
    expect(await copying(runId)).toBeNull();
    expect((await fixture.written(runId))['ledger']).toHaveLength(1);
  });

  it('is replaced by the result', async () => {
    const { runId, epoch, spaceId } = await fixture.run('copying');
    await fixture.first.finish(runId, epoch, succeeded);
    expect(await fixture.first.runReader.result(spaceId, testModel, runId)).toMatchObject({
      output: { body: Buffer.from('{"done":true}') },
    });
    expect((await fixture.written(runId))['payloads']).toHaveLength(2);
  });

  it('can be read for copying in no other stage', async () => {
    for (const stage of ['claimed', 'submitting', 'running', 'completed'] as const) {
      expect(await copying((await fixture.run(stage)).runId)).toBeNull();
    }
    expect(await copying(v7())).toBeNull();
  });

  it('may be in the asset store, which keeps it until the result replaces it', async () => {
    const { runId, epoch } = await fixture.run('running');
    const key = `runs/${runId}/reply`;
    const kept = () => fixture.first.runs.keepOutput(runId, epoch, 'application/json', { storedAs: key });
    await expect(kept()).rejects.toThrow('stored objects');
    expect((await fixture.written(runId))['run']).toMatchObject({ stage: 'running' });

    await fixture.first.storedObjects.note(key, runId, 60);
    expect(await kept()).toBe(true);
    expect(await copying(runId)).toMatchObject({ body: { storedAs: key } });
    expect((await fixture.written(runId))['objects']).toMatchObject([{ key, delete_at: 'infinity' }]);
    await fixture.first.finish(runId, epoch, succeeded);
    expect(await fixture.second.storedObjects.takeDue(10)).toEqual([key]);
  });
});
