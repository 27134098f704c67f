import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { budgetMs, leaseMs, openRunFixture } from '../testing/run-fixture.js';
import { failed, testHandle, testModel, testProvider } from '../testing/runs.js';

const fixture = await openRunFixture();

const claim = (runId: string, worker = fixture.first) => worker.runs.claim(runId, leaseMs);

describe('claim', () => {
  it('gives a run, its input and its facts to one of the workers that ask, and tells the others when it is free', async () => {
    const spaceId = await fixture.space();
    const runs = await Promise.all(Array.from({ length: 20 }, () => fixture.first.run(spaceId)));
    for (const runId of runs) {
      const claims = await Promise.all([
        claim(runId),
        claim(runId, fixture.second),
        claim(runId),
        claim(runId),
      ]);
      const [won, ...others] = claims.toSorted((one, other) => one.kind.localeCompare(other.kind));
      expect(won).toMatchObject({
        kind: 'claimed',
        epoch: 1,
        provider: testProvider,
        model: testModel,
        facts: { upstream: {}, assets: [] },
        body: Buffer.from('{}'),
        crashes: 0,
        leftMs: null,
      });
      for (const other of others) {
        expect(other.kind).toBe('held');
        expect('freeInMs' in other && other.freeInMs > 0 && other.freeInMs <= leaseMs).toBe(true);
      }
    }
  });

  it('names the object that a large input lies in', async () => {
    const key = `runs/${v7()}/input`;
    await fixture.first.storedObjects.note(key, v7(), 60);
    const runId = await fixture.first.run(await fixture.space(), { body: { storedAs: key } });
    expect(await claim(runId)).toMatchObject({ kind: 'claimed', body: { storedAs: key } });
  });

  it('finds nothing to dispatch in a run that is parked, past its submission, completed or unknown', async () => {
    const runs = [
      await fixture.first.run(await fixture.space({ inflightLimit: 0 })),
      (await fixture.run('running')).runId,
      (await fixture.run('copying')).runId,
      (await fixture.run('completed')).runId,
      v7(),
    ];
    for (const runId of runs) {
      const before = await fixture.written(runId);
      expect(await claim(runId)).toMatchObject({ kind: 'gone' });
      expect(await claim(runId, fixture.at('2 hours'))).toMatchObject({ kind: 'gone' });
      expect(await fixture.written(runId)).toEqual(before);
    }
  });

  it('takes over from a worker whose lease has lapsed, and counts that as a crash', async () => {
    const { runId } = await fixture.run('claimed');
    expect(await claim(runId, fixture.at('50 minutes'))).toMatchObject({ kind: 'held' });
    expect(await claim(runId, fixture.at('61 minutes'))).toMatchObject({
      kind: 'claimed',
      epoch: 2,
      crashes: 1,
    });
    expect(await claim(runId, fixture.at('110 minutes'))).toMatchObject({ kind: 'held' });
    expect(await claim(runId, fixture.at('122 minutes'))).toMatchObject({
      kind: 'claimed',
      epoch: 3,
      crashes: 2,
    });
  });

  it('ends a lease that a clock dated a day ahead, once the clock is put right', async () => {
    const { runId } = await fixture.run('claimed', { by: fixture.at('1 day') });
    expect(await claim(runId, fixture.first)).toMatchObject({ kind: 'claimed', epoch: 2, crashes: 1 });
  });

  it('says at most 24 days for a lease or a time budget that is longer', async () => {
    const { runId, epoch } = await fixture.run('claimed', { budgetMs: 60 * 86_400_000 });
    await fixture.first.sql(
      `UPDATE run SET lease_until = router_now() + interval '24 days 21 hours' WHERE id = $1`,
      [runId],
    );
    expect(await fixture.second.runs.claim(runId, 2 ** 31 - 1)).toMatchObject({
      kind: 'held',
      freeInMs: 2 ** 31 - 1,
    });
    expect(await fixture.first.runs.beginSubmission(runId, epoch, leaseMs)).toBe(true);
    await fixture.first.runs.postpone(runId, epoch, 0);
    expect(await claim(runId, fixture.second)).toMatchObject({ kind: 'claimed', leftMs: 2 ** 31 - 1 });
  });

  it('has one successor for a lapsed lease, however many workers come for it', async () => {
    const { runId } = await fixture.run('claimed');
    const late = fixture.at('61 minutes');
    const kinds = (await Promise.all(Array.from({ length: 4 }, () => claim(runId, late)))).map(
      ({ kind }) => kind,
    );
    expect(kinds.toSorted()).toEqual(['claimed', 'held', 'held', 'held']);
    expect((await fixture.written(runId))['run']).toMatchObject({ epoch: 2, crashes: 1 });
  });

  it('counts no crash for a claim that was given back', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    expect(await fixture.first.runs.postpone(runId, epoch, 0)).toBe(0);
    expect(await claim(runId, fixture.second)).toMatchObject({ kind: 'claimed', epoch: 2, crashes: 0 });
  });

  it('never gives out again a run whose worker died with its submission in the air', async () => {
    const { runId } = await fixture.run('submitting');
    expect(await claim(runId, fixture.second)).toMatchObject({ kind: 'held' });

    for (const [offset, epoch] of [
      ['61 minutes', 2],
      ['122 minutes', 3],
    ] as const) {
      const later = fixture.at(offset);
      expect(await claim(runId, later)).toMatchObject({
        kind: 'abandoned',
        epoch,
        provider: testProvider,
        model: testModel,
      });
      expect(await later.runs.beginSubmission(runId, epoch, leaseMs)).toBe(false);
    }
    const { won } = await fixture.at('122 minutes').finish(runId, 3, failed('provider_error'));
    expect(won).toBe(true);
    expect(await fixture.first.runs.saveHandle(runId, 1, testHandle, 0)).toBeNull();
    expect(await claim(runId, fixture.at('1 day'))).toMatchObject({ kind: 'gone' });
  });

  it('gives out again what the provider provably refused, with what is left of the time since it was first sent', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    await fixture.first.runs.postpone(runId, epoch, 0);
    const again = await claim(runId, fixture.at('2 hours'));
    expect(again).toMatchObject({ kind: 'claimed', epoch: 2, crashes: 0 });
    const leftMs = 'leftMs' in again ? again.leftMs : null;
    expect(leftMs).toBeLessThanOrEqual(budgetMs - 2 * leaseMs);
    expect(leftMs).toBeGreaterThan(budgetMs - 3 * leaseMs);

    await fixture.at('2 hours').runs.postpone(runId, 2, 0);
    const spent = await claim(runId, fixture.at('11 hours'));
    expect(spent.kind).toBe('claimed');
    expect('leftMs' in spent ? spent.leftMs : null).toBeLessThan(0);
  });

  it('tells of no time spent by a run that was claimed and never sent', async () => {
    const { runId } = await fixture.run('claimed');
    expect(await claim(runId, fixture.at('1 day'))).toMatchObject({ kind: 'claimed', leftMs: null });
  });
});
