import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { DispatchRepository, type TakenRun } from './dispatch.repository.js';
import { planOf } from './testing/plan.js';
import { leaseMs, openRunFixture } from './testing/run-fixture.js';
import { testModel } from './testing/runs.js';

const fixture = await openRunFixture();
const nobody = new Map<string, number>();
const anyNumber = 1_000;

/** A new provider for each test, so that tests do not share a line. */
const newProvider = (): string => `p${v7()}`;

/** Admits runs of the workspace that wait for the provider, oldest first. */
async function waitingRuns(provider: string, spaceId: string, count: number): Promise<string[]> {
  const runIds: string[] = [];
  for (let n = 0; n < count; n += 1) runIds.push(await fixture.first.run(spaceId, { provider }));
  return runIds;
}

const take = (provider: string, held = nobody, { maxHeld = anyNumber, most = 1, by = fixture.first } = {}) =>
  by.dispatch.takeRuns(provider, { held, maxHeld, most, leaseMs });

const idsOf = (runs: readonly TakenRun[]) => runs.map(({ runId }) => runId);

/** Takes runs one by one without giving any back, and returns their ids. */
async function taken(provider: string, count: number): Promise<(string | null)[]> {
  const held = new Map<string, number>();
  const runIds: (string | null)[] = [];
  for (let n = 0; n < count; n += 1) {
    const [run] = await take(provider, held);
    if (run) held.set(run.workspaceId, (held.get(run.workspaceId) ?? 0) + 1);
    runIds.push(run?.runId ?? null);
  }
  return runIds;
}

/** The runs that one process takes until no more wait, with several concurrent looks. */
async function drained(provider: string, by = fixture.first, most = 3): Promise<TakenRun[]> {
  const runs: TakenRun[] = [];
  while ((await by.dispatch.linesToLookAt()).includes(provider)) {
    const looks = await Promise.all([1, most].map((each) => take(provider, nobody, { most: each, by })));
    runs.push(...looks.flat());
  }
  return runs;
}

describe('the runs that wait for a provider', () => {
  it('are claimed with their facts and inputs', async () => {
    const provider = newProvider();
    const spaceId = await fixture.space();
    const key = `runs/${v7()}/input`;
    await fixture.first.storedObjects.note(key, v7(), 60);
    const runId = await fixture.first.run(spaceId, { provider });
    const large = await fixture.first.run(spaceId, { provider, body: { storedAs: key } });
    const claimed = {
      provider,
      epoch: 1,
      workspaceId: spaceId,
      model: testModel,
      facts: expect.objectContaining({ assets: [] }),
      crashes: 0,
      leftMs: null,
      waitedMs: expect.any(Number),
      keyName: null,
    };
    expect(await take(provider, nobody, { most: 2 })).toEqual([
      { ...claimed, runId, body: Buffer.from('{}') },
      { ...claimed, runId: large, body: { storedAs: key } },
    ]);
    expect((await fixture.written(runId))['outbox']).toMatchObject({ waiting: false, dispatched: true });
    expect(await fixture.first.dispatch.beginSubmission(runId, 1, leaseMs)).toBe(true);
  });

  it('are taken oldest first within a workspace, each once', async () => {
    const provider = newProvider();
    const runIds = await waitingRuns(provider, await fixture.space(), 3);
    expect(await taken(provider, 4)).toEqual([...runIds, null]);
  });

  it('are taken from the workspaces in turn, however many runs one of them has', async () => {
    const provider = newProvider();
    const crowd = await waitingRuns(provider, await fixture.space(), 5);
    const other = await waitingRuns(provider, await fixture.space(), 2);
    expect(await taken(provider, 7)).toEqual([
      crowd[0],
      other[0],
      crowd[1],
      other[1],
      crowd[2],
      crowd[3],
      crowd[4],
    ]);
  });

  it('keep waiting while their workspace holds the maximum number of slots', async () => {
    const provider = newProvider();
    const spaceId = await fixture.space();
    const [runId] = await waitingRuns(provider, spaceId, 1);
    const full = new Map([[spaceId, 2]]);
    expect(await take(provider, full, { maxHeld: 2 })).toEqual([]);
    expect(await fixture.first.dispatch.linesToLookAt()).toContain(provider);
    expect(await take(provider, full, { maxHeld: 3 })).toMatchObject([{ runId }]);
    expect(await take(provider)).toEqual([]);
    expect(await fixture.first.dispatch.linesToLookAt()).not.toContain(provider);
  });

  it('fill all free slots at once, in the same turns', async () => {
    const provider = newProvider();
    const [crowdId, otherId] = [await fixture.space(), await fixture.space()];
    const crowd = await waitingRuns(provider, crowdId, 5);
    const other = await waitingRuns(provider, otherId, 2);
    const held = new Map([[crowdId, 1]]);
    const first = await take(provider, held, { most: 4, maxHeld: 3 });
    // A workspace's turn counts the slots that it already holds.
    expect(idsOf(first)).toEqual([other[0], crowd[0], other[1], crowd[1]]);
    expect(first.map(({ workspaceId }) => workspaceId)).toEqual([otherId, crowdId, otherId, crowdId]);
    const then = new Map([[crowdId, 3]]);
    expect(idsOf(await take(provider, then, { most: 9, maxHeld: 4 }))).toEqual([crowd[2]]);
    expect(idsOf(await take(provider, nobody, { most: 9 }))).toEqual([crowd[3], crowd[4]]);
  });

  it('do not include runs that were cancelled or submitted, or that wait for another provider', async () => {
    const provider = newProvider();
    const spaceId = await fixture.space();
    const [cancelled = '', submitted = ''] = await waitingRuns(provider, spaceId, 2);
    await waitingRuns(newProvider(), spaceId, 1);
    await fixture.first.runs.requestCancel(spaceId, testModel, cancelled);
    await fixture.first.take(submitted, 'submitting');
    expect(await taken(provider, 1)).toEqual([null]);
  });

  it('do not include runs that are parked or postponed', async () => {
    const provider = newProvider();
    const spaceId = await fixture.space({ inflightLimit: 1 });
    const { runId, epoch } = await fixture.run('submitting', { spaceId, provider });
    await waitingRuns(provider, spaceId, 1);
    await fixture.first.dispatch.postpone(runId, epoch, leaseMs);
    expect(await taken(provider, 1)).toEqual([null]);
  });

  it('are claimed for their new provider after they fell back, and no longer for the previous one', async () => {
    const [before, after] = [newProvider(), newProvider()];
    const { runId, epoch } = await fixture.run('submitting', { provider: before });
    const fallback = { provider: after, computedMicros: 1, facts: { budgetMs: 1_000, assets: [] } };
    await fixture.first.sql(
      `UPDATE run SET facts = facts || jsonb_build_object('fallback', $2::jsonb) WHERE id = $1`,
      [runId, JSON.stringify(fallback)],
    );
    expect(await fixture.first.dispatch.fallBack(runId, epoch)).toBe(after);
    expect(await fixture.second.dispatch.fallBack(runId, epoch + 1)).toBeNull();
    expect(await take(before)).toEqual([]);
    expect(await take(after)).toMatchObject([{ runId, epoch: 2, provider: after, crashes: 0 }]);
  });

  it('are listed by provider, each once', async () => {
    const [one, two, none, paused] = [newProvider(), newProvider(), newProvider(), newProvider()];
    const spaceId = await fixture.space();
    await waitingRuns(one, spaceId, 2);
    await waitingRuns(two, spaceId, 1);
    await fixture.run('claimed', { spaceId, provider: none });
    const refused = await fixture.run('submitting', { spaceId, provider: paused });
    await fixture.first.dispatch.postpone(refused.runId, refused.epoch, leaseMs);
    const awaited = await fixture.first.dispatch.linesToLookAt();
    expect(awaited.filter((each) => [one, two, none, paused].includes(each))).toEqual([one, two].toSorted());
  });

  it('wait until a worker exists', async () => {
    const provider = newProvider();
    const [runId = ''] = await waitingRuns(provider, await fixture.space(), 1);
    const later = fixture.at('30 days');
    expect(await fixture.overdueAt('30 days')).not.toContain(runId);
    expect(await fixture.swept(runId, later)).toBeUndefined();
    expect(await take(provider, nobody, { by: later })).toMatchObject([{ runId, crashes: 0 }]);
  });

  it('come back when the worker that took them died', async () => {
    const provider = newProvider();
    const [runId = ''] = await waitingRuns(provider, await fixture.space(), 1);
    await taken(provider, 1);
    const later = fixture.at(`${leaseMs + 1_000} milliseconds`);
    expect(await take(provider, nobody, { by: later })).toEqual([]);
    expect(await fixture.swept(runId, later)).toMatchObject({ kind: 'lapsed' });
    expect(await take(provider, nobody, { by: later })).toMatchObject([{ runId, epoch: 2, crashes: 1 }]);
  });
});

describe('several processes at once', () => {
  it('share the runs, and none is taken twice', async () => {
    const provider = newProvider();
    const spaceIds = await Promise.all([fixture.space(), fixture.space()]);
    const runIds = (await Promise.all(spaceIds.map((id) => waitingRuns(provider, id, 30)))).flat();
    const processes = [fixture.first, fixture.second, fixture.at('0'), fixture.at('1 second')];
    const got = (await Promise.all(processes.map((by) => drained(provider, by)))).flat();
    expect(got.map(({ epoch }) => epoch)).toEqual(runIds.map(() => 1));
    expect(idsOf(got).toSorted()).toEqual(runIds.toSorted());
  });

  it('take, give back, sweep and pause without duplicating a claim or losing a run', async () => {
    const provider = newProvider();
    const spaceIds = await Promise.all([fixture.space(), fixture.space(), fixture.space()]);
    const runIds = (await Promise.all(spaceIds.map((id) => waitingRuns(provider, id, 20)))).flat();
    const claims: string[] = [];
    const ended = new Set<string>();
    type Worker = typeof fixture.first;
    const workers = [fixture.first, fixture.second, fixture.at('0'), fixture.at('1 second')];
    /** Gives back, forgets or submits in turn the runs that it takes, so that several workers handle each run. */
    const work = async (by: Worker) => {
      for (let look = 0; ended.size < runIds.length; look += 1) {
        // Enough looks for the lease of a run that nobody gives back to end.
        if (look > 100_000) throw new Error(`${runIds.length - ended.size} runs are left`);
        for (const { runId, epoch } of await take(provider, nobody, { most: 1 + (look % 5), by })) {
          claims.push(`${runId} ${epoch}`);
          if (epoch % 3 === 1) await by.dispatch.postpone(runId, epoch, epoch % 2);
          else if (epoch % 3 === 2) await forget(runId);
          else if (await by.dispatch.beginSubmission(runId, epoch, leaseMs)) await forget(runId);
        }
        await sweep(by, 7);
      }
    };
    const sweep = async (by: Worker, most: number) => {
      for (const run of await by.dispatch.sweep(most, leaseMs)) {
        if (run.kind !== 'abandoned') continue;
        claims.push(`${run.runId} ${run.epoch}`);
        if ((await by.runs.finishRun(run, { outcome: 'cancelled' })).won) ended.add(run.runId);
      }
    };
    /** As if its worker had died long ago. */
    const forget = (runId: string) =>
      fixture.first.sql(
        `WITH lapsed AS (UPDATE run SET lease_until = router_now() - interval '1 minute' WHERE id = $1)
         UPDATE outbox SET due_at = router_now() - interval '1 minute' WHERE run_id = $1`,
        [runId],
      );
    const pausing = async () => {
      for (let round = 0; round < 50; round += 1) {
        await fixture.second.pauses.pause(provider, 'maintenance', 'test');
        await sweep(fixture.first, 1_000);
        await fixture.second.pauses.resume(provider, 'test');
        await take(provider, new Map(spaceIds.map((id) => [id, 1])), { maxHeld: 1 });
      }
    };
    await Promise.all([...workers.map(work), pausing()]);
    expect([...ended].toSorted()).toEqual(runIds.toSorted());
    expect(new Set(claims).size).toBe(claims.length);
    const [row] = await fixture.first.sql<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(Number(row?.deadlocks)).toBe(0);
  });
});

it('a look reads only the heads of the lines, however many runs wait behind them or are postponed', async () => {
  const provider = newProvider();
  const spaceIds = await Promise.all(Array.from({ length: 5 }, () => fixture.space()));
  for (const spaceId of spaceIds) await waitingRuns(provider, spaceId, 4);
  await fixture.first.sql(
    `INSERT INTO outbox (workspace_id, run_id, provider, queue, reserved_micros, waiting, due_at)
     SELECT space_id, gen_random_uuid(), $1, 'dispatch', n, true, 'infinity'
     FROM unnest($2::uuid[]) AS space_id, generate_series(1, 4000) AS n`,
    [provider, spaceIds],
  );
  await fixture.first.sql(
    `UPDATE outbox SET waiting = false, due_at = router_now() + interval '1 hour'
     WHERE provider = $1 AND reserved_micros BETWEEN 1 AND 2000`,
    [provider],
  );
  await fixture.first.script('VACUUM (ANALYZE) outbox');
  const plan = await planOf(fixture.first, (listening) =>
    new DispatchRepository(listening).takeRuns(provider, {
      held: nobody,
      maxHeld: anyNumber,
      most: 2,
      leaseMs,
    }),
  );
  const scans = plan.filter(({ node }) => / on outbox/.test(node));
  expect(scans.length).toBeGreaterThan(0);
  for (const { node } of scans) expect(node).toMatch(/Index (Only )?Scan using outbox_waiting/);
  const read = scans.reduce((sum, { rows, loops }) => sum + rows * loops, 0);
  // It reads the head of each workspace, and of its line an even share of the eight candidates plus one.
  expect(read).toBeGreaterThanOrEqual(spaceIds.length * 2);
  expect(read).toBeLessThanOrEqual(spaceIds.length * 3);
  await fixture.first.sql('DELETE FROM outbox WHERE provider = $1 AND run_id NOT IN (SELECT id FROM run)', [
    provider,
  ]);
});
