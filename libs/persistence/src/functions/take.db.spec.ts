import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { budgetMs, leaseMs, openRunFixture } from '../testing/run-fixture.js';
import { testModel } from '../testing/runs.js';

const fixture = await openRunFixture();

describe('take_run', () => {
  it('gives a run, its input and its facts to one worker, and nothing to the others', async () => {
    const spaceId = await fixture.space();
    const runs = await Promise.all(Array.from({ length: 20 }, () => fixture.first.run(spaceId)));
    for (const runId of runs) {
      const claims = await Promise.all([
        fixture.claim(runId),
        fixture.claim(runId, fixture.second),
        fixture.claim(runId),
        fixture.claim(runId),
      ]);
      expect(claims.filter((claim) => claim !== null)).toEqual([
        {
          epoch: 1,
          workspaceId: spaceId,
          model: testModel,
          facts: expect.objectContaining({ upstream: {}, assets: [] }),
          body: Buffer.from('{}'),
          crashes: 0,
          leftMs: null,
          waitedMs: expect.any(Number),
        },
      ]);
      expect(await fixture.claim(runId, fixture.second)).toBeNull();
    }
  });

  it('returns the key of a large input', async () => {
    const key = `runs/${v7()}/input`;
    await fixture.first.storedObjects.note(key, v7(), 60);
    const runId = await fixture.first.run(await fixture.space(), { body: { storedAs: key } });
    expect(await fixture.claim(runId)).toMatchObject({ body: { storedAs: key } });
  });

  it('changes nothing in a run that is parked, past its submission, completed or unknown', async () => {
    const runs = [
      await fixture.first.run(await fixture.space({ inflightLimit: 0 })),
      (await fixture.run('running')).runId,
      (await fixture.run('copying')).runId,
      (await fixture.run('completed')).runId,
      v7(),
    ];
    for (const runId of runs) {
      const before = await fixture.written(runId);
      expect(await fixture.claim(runId)).toBeNull();
      expect(await fixture.claim(runId, fixture.at('2 hours'))).toBeNull();
      expect(await fixture.written(runId)).toEqual(before);
    }
  });

  it('changes nothing in a run that is claimed, submitted or postponed', async () => {
    const postponed = await fixture.run('submitting');
    await fixture.first.dispatch.postpone(postponed.runId, postponed.epoch, leaseMs);
    for (const { runId } of [await fixture.run('claimed'), await fixture.run('submitting'), postponed]) {
      const before = await fixture.written(runId);
      expect(await fixture.claim(runId, fixture.second)).toBeNull();
      expect(await fixture.claim(runId, fixture.at('2 hours'))).toBeNull();
      expect(await fixture.written(runId)).toEqual(before);
    }
  });

  it('skips a locked run', async () => {
    const runId = await fixture.first.run(await fixture.space());
    await fixture.first.database.transaction(async ({ query }) => {
      await query('SELECT FROM run WHERE id = $1 FOR NO KEY UPDATE', [runId]);
      expect(await fixture.claim(runId, fixture.second)).toBeNull();
    });
    expect(await fixture.claim(runId, fixture.second)).toMatchObject({ epoch: 1 });
  });

  it('returns how long a run waited from the grant of its slot to its first claim', async () => {
    const runId = await fixture.first.run(await fixture.space());
    const first = await fixture.claim(runId, fixture.at('1 hour'));
    expect(Number(first?.waitedMs) / 3_600_000).toBeCloseTo(1, 1);
    const back = await fixture.run('claimed');
    await fixture.first.dispatch.postpone(back.runId, back.epoch, 0);
    expect(await fixture.claim(back.runId, fixture.at('1 hour'))).toMatchObject({ waitedMs: null });
  });

  it('does not count a claim that was given back as a crash', async () => {
    const { runId, epoch } = await fixture.run('claimed');
    expect(await fixture.first.dispatch.postpone(runId, epoch, 0)).toBe(0);
    expect(await fixture.claim(runId, fixture.second)).toMatchObject({ epoch: 2, crashes: 0 });
  });

  it('gives out a provably rejected run again, with the rest of its time since it was first sent', async () => {
    const { runId, epoch } = await fixture.run('submitting');
    await fixture.first.dispatch.postpone(runId, epoch, 0);
    const again = await fixture.claim(runId, fixture.at('2 hours'));
    expect(again).toMatchObject({ epoch: 2, crashes: 0 });
    expect(again?.leftMs).toBeLessThanOrEqual(budgetMs - 2 * leaseMs);
    expect(again?.leftMs).toBeGreaterThan(budgetMs - 3 * leaseMs);

    await fixture.at('2 hours').dispatch.postpone(runId, 2, 0);
    const spent = await fixture.claim(runId, fixture.at('11 hours'));
    expect(spent).toMatchObject({ epoch: 3 });
    expect(spent?.leftMs).toBeLessThan(0);
  });

  it('returns at most 24 days for a longer time budget', async () => {
    const { runId, epoch } = await fixture.run('submitting', { budgetMs: 60 * 86_400_000 });
    await fixture.first.dispatch.postpone(runId, epoch, 0);
    expect(await fixture.claim(runId)).toMatchObject({ leftMs: 2 ** 31 - 1 });
  });

  it('accepts a lease of 24 days, which lasts that long', async () => {
    const runId = await fixture.first.run(await fixture.space());
    expect(await fixture.first.claim(runId, 2 ** 31 - 1)).toMatchObject({ epoch: 1 });
    await fixture.first.sql('UPDATE outbox SET due_at = router_now() WHERE run_id = $1', [runId]);
    expect(await fixture.first.dispatch.sweep(10_000, 2 ** 31 - 1)).toEqual([]);
    expect(await fixture.second.claim(runId, 2 ** 31 - 1)).toBeNull();
  });

  it('counts no time for a run that was claimed but never sent', async () => {
    const { runId } = await fixture.run('claimed');
    const later = fixture.at('1 day');
    await fixture.swept(runId, later);
    expect(await fixture.claim(runId, later)).toMatchObject({ leftMs: null });
  });
});

/** A row as left by the previous release, which claims a run and leaves its row waiting until the submission. */
async function claimedBefore(): Promise<string> {
  const runId = await fixture.first.run(await fixture.space());
  expect(await oldClaim(runId)).toBe('claimed');
  expect((await fixture.written(runId))['outbox']).toMatchObject({ waiting: true });
  return runId;
}

/** Calls the function of the previous release, which the first migration created. */
async function oldClaim(runId: string, by = fixture.first): Promise<string | undefined> {
  const [row] = await by.sql<{ kind: string }>(
    `SELECT kind FROM claim($1, $2 * interval '1 millisecond', true)`,
    [runId, leaseMs],
  );
  return row?.kind;
}

const oldBeginning = (runId: string, epoch: number) =>
  fixture.first.sql(`SELECT begin_submission($1, $2, $3 * interval '1 millisecond', true)`, [
    runId,
    epoch,
    leaseMs,
  ]);

describe('beside workers of the previous release', () => {
  it('does not give out a run that one of them claimed until its lease has lapsed', async () => {
    const runId = await claimedBefore();
    expect(await fixture.claim(runId, fixture.second)).toBeNull();
    expect((await fixture.written(runId))['outbox']).toMatchObject({ waiting: false });
    expect(await fixture.swept(runId, fixture.at('50 minutes'))).toBeUndefined();
    expect(await fixture.claim(runId, fixture.at('50 minutes'))).toBeNull();
    const later = fixture.at('61 minutes');
    expect(await fixture.swept(runId, later)).toMatchObject({ kind: 'lapsed' });
    expect(await fixture.claim(runId, later)).toMatchObject({ epoch: 2, crashes: 1 });
  });

  it('counts the crash if no worker looked at the row before its lease lapsed', async () => {
    const runId = await claimedBefore();
    expect(await fixture.claim(runId, fixture.at('61 minutes'))).toMatchObject({ epoch: 2, crashes: 1 });
  });

  it('never gives out a run that one of them submitted', async () => {
    const runId = await claimedBefore();
    await oldBeginning(runId, 1);
    expect(await fixture.claim(runId, fixture.second)).toBeNull();
    const later = fixture.at('61 minutes');
    expect(await fixture.swept(runId, later)).toMatchObject({ kind: 'abandoned', epoch: 2 });
    expect(await fixture.claim(runId, later)).toBeNull();
  });

  it('is the only one to dispatch a run that it claimed', async () => {
    const { runId } = await fixture.run('claimed');
    expect(await oldClaim(runId, fixture.second)).toBe('held');
    expect(await oldClaim((await fixture.run('submitting')).runId, fixture.second)).toBe('held');
  });

  it('gives a run to one of several concurrent workers of both releases', async () => {
    const spaceId = await fixture.space();
    for (let n = 0; n < 20; n += 1) {
      const runId = await fixture.first.run(spaceId);
      const got = await Promise.all([
        fixture.claim(runId).then((claim) => claim !== null),
        oldClaim(runId, fixture.second).then((kind) => kind === 'claimed'),
        fixture.claim(runId, fixture.second).then((claim) => claim !== null),
        oldClaim(runId).then((kind) => kind === 'claimed'),
      ]);
      expect(got.filter((won) => won)).toHaveLength(1);
    }
  });
});
