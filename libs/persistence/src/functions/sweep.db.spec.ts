import { describe, expect, it } from '@jest/globals';
import { leaseMs, openRunFixture } from '../testing/run-fixture.js';
import { failed, testHandle, testModel, testProvider } from '../testing/runs.js';

const fixture = await openRunFixture();

const hourMs = 3_600_000;

describe('a run whose worker died before the submission', () => {
  it('waits again once its lease has lapsed, and its next claim counts the crash', async () => {
    const { runId } = await fixture.run('claimed');
    for (const [standing, lapsed, epoch] of [
      ['50 minutes', '61 minutes', 1],
      ['110 minutes', '122 minutes', 2],
    ] as const) {
      expect(await fixture.swept(runId, fixture.at(standing))).toBeUndefined();
      expect(await fixture.claim(runId, fixture.at(standing))).toBeNull();
      const later = fixture.at(lapsed);
      expect(await fixture.claim(runId, later)).toBeNull();
      expect(await fixture.swept(runId, later)).toMatchObject({
        kind: 'lapsed',
        epoch,
        provider: testProvider,
        model: testModel,
      });
      expect(await fixture.claim(runId, later)).toMatchObject({ epoch: epoch + 1, crashes: epoch });
    }
  });

  it('comes back once, however many workers sweep and take', async () => {
    const { runId } = await fixture.run('claimed');
    const late = fixture.at('61 minutes');
    const swept = await Promise.all(Array.from({ length: 4 }, () => fixture.swept(runId, late)));
    expect(swept.filter((found) => found?.kind === 'lapsed')).toHaveLength(1);
    const claims = await Promise.all(Array.from({ length: 4 }, () => fixture.claim(runId, late)));
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
    expect((await fixture.written(runId))['run']).toMatchObject({ epoch: 2, crashes: 1 });
  });

  it('is again ahead of later runs of its workspace', async () => {
    const { runId, spaceId } = await fixture.run('claimed');
    const after = await fixture.first.run(spaceId);
    const later = fixture.at('61 minutes');
    const state = () => later.runReader.state(spaceId, testModel, after);
    expect(await state()).toMatchObject({ position: 0 });
    await fixture.swept(runId, later);
    expect(await state()).toMatchObject({ position: 1 });
  });

  it('is reported once, however often a pause of the provider puts it off', async () => {
    const provider = 'paused-after-crash';
    const { runId } = await fixture.run('claimed', { provider });
    await fixture.first.pauses.pause(provider, 'maintenance', 'test');
    expect(await fixture.swept(runId, fixture.at('61 minutes'))).toMatchObject({ kind: 'lapsed' });
    for (const offset of ['63 minutes', '65 minutes'])
      expect(await fixture.swept(runId, fixture.at(offset))).toBeUndefined();
    const later = fixture.at('65 minutes');
    await later.pauses.resume(provider, 'test');
    expect(await fixture.claim(runId, later)).toMatchObject({ epoch: 2, crashes: 1 });
  });

  it('comes back after a clock that was a day fast is corrected', async () => {
    const { runId } = await fixture.run('claimed', { by: fixture.at('1 day') });
    // The reconciler finds rows that are dated too far ahead.
    await fixture.first.outbox.takeOverdue(10_000);
    expect(await fixture.swept(runId)).toMatchObject({ kind: 'lapsed' });
    expect(await fixture.claim(runId)).toMatchObject({ epoch: 2, crashes: 1 });
  });

  it('does not include a run with a renewed or longer lease, which is not due until that ends', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    const longerMs = 24 * hourMs;
    await fixture.first.dispatch.renewLeases([{ runId, epoch }], longerMs);
    await fixture.first.sql('UPDATE outbox SET due_at = router_now() WHERE run_id = $1', [runId]);
    const rested = () => fixture.first.dispatch.sweep(10_000, longerMs);
    expect(await rested()).toEqual([]);
    const [row] = await fixture.first.sql<{ same: boolean }>(
      'SELECT due_at = lease_until AS same FROM outbox JOIN run ON id = run_id WHERE id = $1',
      [runId],
    );
    expect(row).toEqual({ same: true });
  });
});

describe('a run whose worker died during its submission', () => {
  it('is never taken again, but claimed in order to end it', async () => {
    const { runId } = await fixture.run('submitting');
    expect(await fixture.swept(runId, fixture.second)).toBeUndefined();
    expect(await fixture.claim(runId, fixture.second)).toBeNull();

    for (const [offset, epoch] of [
      ['61 minutes', 2],
      ['122 minutes', 3],
    ] as const) {
      const later = fixture.at(offset);
      expect(await fixture.swept(runId, later)).toMatchObject({
        kind: 'abandoned',
        epoch,
        provider: testProvider,
        model: testModel,
        facts: { assets: [] },
      });
      expect(await fixture.swept(runId, later)).toBeUndefined();
      expect(await fixture.claim(runId, later)).toBeNull();
      expect(await later.dispatch.beginSubmission(runId, epoch, leaseMs)).toBe(false);
    }
    const { won } = await fixture.at('122 minutes').finish(runId, 3, failed('provider_error'));
    expect(won).toBe(true);
    expect(await fixture.first.runs.saveHandle(runId, 1, testHandle, 0)).toBeNull();
    expect(await fixture.swept(runId, fixture.at('1 day'))).toBeUndefined();
    expect(await fixture.claim(runId, fixture.at('1 day'))).toBeNull();
  });

  it('is claimed by only one of the workers that sweep', async () => {
    const { runId } = await fixture.run('submitting');
    const late = fixture.at('61 minutes');
    const swept = await Promise.all(Array.from({ length: 4 }, () => fixture.swept(runId, late)));
    expect(swept.filter((found) => found?.kind === 'abandoned')).toHaveLength(1);
    expect((await fixture.written(runId))['run']).toMatchObject({ epoch: 2 });
  });

  it('is found while its provider is paused', async () => {
    const provider = 'paused-in-the-air';
    const { runId } = await fixture.run('submitting', { provider });
    await fixture.first.pauses.pause(provider, 'maintenance', 'test');
    expect(await fixture.swept(runId, fixture.at('61 minutes'))).toMatchObject({ kind: 'abandoned' });
  });
});

describe('a postponed run', () => {
  it('waits again when it is due, and is not reported', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    await fixture.first.dispatch.postpone(runId, epoch, 5_000);
    expect(await fixture.swept(runId)).toBeUndefined();
    expect(await fixture.claim(runId)).toBeNull();
    const later = fixture.at('6 seconds');
    expect(await fixture.swept(runId, later)).toBeUndefined();
    expect(await fixture.claim(runId, later)).toMatchObject({ epoch: 2, crashes: 0 });
  });

  it('waits from the start when it is admitted or granted, without a sweep', async () => {
    const spaceId = await fixture.space({ inflightLimit: 1 });
    const runId = await fixture.first.run(spaceId);
    const parked = await fixture.first.run(spaceId);
    const claim = await fixture.claim(runId);
    await fixture.first.finish(runId, claim?.epoch ?? 0, failed('provider_error'));
    expect(await fixture.claim(parked)).toMatchObject({ epoch: 1 });
  });
});

describe('a sweep', () => {
  it('takes the rows that have been due longest, up to its limit', async () => {
    const spaceId = await fixture.space();
    const runs: string[] = [];
    for (const hoursAgo of [1, 3, 2]) {
      const { runId } = await fixture.run('claimed', { spaceId, by: fixture.at(`-${hoursAgo + 1} hours`) });
      runs.push(runId);
    }
    const [first, third, second] = runs;
    const one = async () =>
      (await fixture.first.dispatch.sweep(1, leaseMs)).map(({ runId, kind }) => [kind, runId]);
    // Rows left by other cases are due later than these.
    expect([await one(), await one(), await one()]).toEqual([
      [['lapsed', third]],
      [['lapsed', second]],
      [['lapsed', first]],
    ]);
  });

  it('skips locked runs', async () => {
    const spaceId = await fixture.space();
    const runs = await Promise.all(Array.from({ length: 6 }, () => fixture.run('submitting', { spaceId })));
    const ids = runs.map(({ runId }) => runId);
    const later = fixture.at('3 hours');
    const abandoned = async () =>
      (await later.dispatch.sweep(10_000, leaseMs))
        .map(({ runId }) => runId)
        .filter((id) => ids.includes(id));
    await fixture.first.database.transaction(async ({ query }) => {
      await query('SELECT FROM run WHERE id = ANY($1) FOR UPDATE', [ids.slice(0, 2)]);
      expect((await abandoned()).toSorted()).toEqual(ids.slice(2).toSorted());
    });
    expect((await abandoned()).toSorted()).toEqual(ids.slice(0, 2).toSorted());
  });

  it('leaves submitted runs to their queue', async () => {
    const runs = [await fixture.run('running'), await fixture.run('copying')];
    for (const { runId } of runs) {
      const before = await fixture.written(runId);
      expect(await fixture.swept(runId, fixture.at('1 day'))).toBeUndefined();
      expect(await fixture.written(runId)).toEqual(before);
    }
  });
});

describe('after the database was down', () => {
  it('the leases of submissions in flight get their time again', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    const back = fixture.at('61 minutes');
    const judgesFrom = new Date((await back.dispatch.readClock()).getTime() + leaseMs);
    const swept = async (by: typeof back) =>
      (await by.dispatch.sweep(10_000, leaseMs, { judgesFrom })).filter((each) => each.runId === runId);
    expect(await swept(back)).toEqual([]);
    await back.dispatch.renewLeases([{ runId, epoch }], leaseMs);
    expect(await swept(fixture.at('120 minutes'))).toEqual([]);
    expect(await back.runs.saveHandle(runId, epoch, testHandle, 0)).not.toBeNull();
  });

  it('a claim whose submission had not begun counts as lapsed, because its worker can no longer begin it', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    const back = fixture.at('61 minutes');
    const judgesFrom = new Date((await back.dispatch.readClock()).getTime() + leaseMs);
    const swept = await back.dispatch.sweep(10_000, leaseMs, { judgesFrom });
    expect(swept.find((each) => each.runId === runId)).toMatchObject({ kind: 'lapsed' });
    expect(await back.dispatch.beginSubmission(runId, epoch, leaseMs)).toBe(false);
  });

  it('a statement that was frozen with it does nothing', async () => {
    const { runId } = await fixture.run('submitting');
    const thawed = fixture.at('62 minutes');
    const askedAt = await fixture.at('61 minutes').dispatch.readClock();
    expect(await thawed.dispatch.sweep(10_000, leaseMs, { askedAt })).toEqual([]);
    expect(await fixture.swept(runId, thawed)).toMatchObject({ kind: 'abandoned' });
  });
});
