import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { leaseMs, openLife } from './testing/life.js';
import { cents, succeeded, testProvider } from './testing/runs.js';

const life = await openLife();

const many = (count: number, spaceId: string) =>
  Promise.all(Array.from({ length: count }, () => life.first.run(spaceId)));

describe('what should have moved and did not', () => {
  it('is a run that nobody delivered, soon after its admission', async () => {
    const spaceId = await life.space();
    const runId = await life.first.run(spaceId);
    const [row] = await life.first.sql<{ dueMs: number }>(
      `SELECT extract(epoch FROM due_at - admitted_at)::float * 1000 AS "dueMs" FROM outbox JOIN run ON id = run_id WHERE id = $1`,
      [runId],
    );
    // The gateway delivers at once; this is for when it could not.
    expect(row?.dueMs).toBeGreaterThanOrEqual(500);
    expect(await life.at('1 minute').deliveries.takeOverdue(10_000)).toContainEqual({
      runId,
      provider: testProvider,
      queue: 'dispatch',
    });
  });

  it.each([
    ['submitting', 'dispatch'],
    ['running', 'poll'],
    ['copying', 'assets'],
  ] as const)('is a run that the queue has lost: %s comes back in its own queue', async (stage, queue) => {
    const { runId } = await life.run(stage);
    expect(await life.at('2 hours').deliveries.takeOverdue(10_000)).toContainEqual({
      runId,
      provider: testProvider,
      queue,
    });
  });

  it('is none that is parked, nor one that has its outcome', async () => {
    const parked = await life.first.run(await life.space({ inflightLimit: 0 }));
    const { runId } = await life.run('completed');
    const overdue = await life.overdueAt('10 years');
    expect(overdue).not.toContain(parked);
    expect(overdue).not.toContain(runId);
  });

  it('is a promoted run that nobody delivered', async () => {
    const spaceId = await life.space({ inflightLimit: 1 });
    const { runId, epoch } = await life.run('running', { spaceId });
    const parked = await life.first.run(spaceId);
    await life.first.dispatching.finish(runId, epoch, succeeded);
    expect(await life.overdueAt('1 minute')).toContain(parked);
  });

  it('loses none of many dispatches and polls when the queue forgets them all', async () => {
    const spaceId = await life.space();
    const waiting = await many(20, spaceId);
    const polled = await Promise.all(Array.from({ length: 20 }, () => life.run('running', { spaceId })));
    const runs = [...waiting, ...polled.map(({ runId }) => runId)];
    const back = (await life.overdueAt('1 day')).filter((runId) => runs.includes(runId));
    expect(back.toSorted()).toEqual(runs.toSorted());
    for (const runId of waiting) expect(await life.first.take(runId, 'claimed')).toBe(1);
    for (const { runId, epoch } of polled) {
      expect(await life.first.dispatching.readForPoll(runId)).toMatchObject({ stage: 'running', epoch });
    }
  });
});

describe('a sweep', () => {
  it('rests what it took, and takes it again when that is lost too', async () => {
    const runId = await life.first.run(await life.space());
    const swept = () => life.first.deliveries.takeOverdue(10_000);
    await life.first.dispatching.leaveToReconciler(runId, 0);
    expect(await life.restAfter(swept, runId, 10_000)).toBe(10_000);
    expect(await life.overdueAt('1 hour')).toContain(runId);
    expect(await life.overdueAt('2 hours')).toContain(runId);
  });

  it('takes what has waited longest, and no more than it can deliver', async () => {
    const runs = await many(3, await life.space());
    const [first, second, third] = runs as [string, string, string];
    await life.at('-1 day').dispatching.leaveToReconciler(second, 0);
    await life.at('-2 days').dispatching.leaveToReconciler(third, 0);
    await life.at('-3 days').dispatching.leaveToReconciler(first, 0);
    const one = async () => (await life.first.deliveries.takeOverdue(1)).map(({ runId }) => runId);
    expect([await one(), await one(), await one()]).toEqual([[first], [third], [second]]);
  });

  it('shares the rows with those that sweep at the same time: none goes out twice', async () => {
    const runs = await many(120, await life.space());
    const later = life.at('1 hour');
    await life.overdueAt('30 minutes');
    const taken = await Promise.all(Array.from({ length: 12 }, () => later.deliveries.takeOverdue(20)));
    const ids = taken.flat().map(({ runId }) => runId);
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await later.deliveries.takeOverdue(10_000);
    expect(new Set([...ids, ...rest.map(({ runId }) => runId)])).toEqual(new Set([...ids, ...runs]));
  });

  it('passes over the rows that somebody else has, instead of waiting for them', async () => {
    const runs = await many(10, await life.space());
    const held = runs.slice(0, 4);
    const other = new Client({ connectionString: life.database.url });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT FROM outbox WHERE run_id = ANY($1) FOR UPDATE', [held]);
      const mine = (await life.overdueAt('3 hours')).filter((runId) => runs.includes(runId));
      expect(mine.toSorted()).toEqual(runs.slice(4).toSorted());
      await other.query('COMMIT');
      expect(await life.overdueAt('3 hours')).toEqual(expect.arrayContaining(held));
    } finally {
      await other.end();
    }
  });

  it('that brings a run twice starts it once', async () => {
    const runId = await life.first.run(await life.space());
    const claims = await Promise.all(
      [life.first, life.second, life.first].map((by) => by.dispatching.claim(runId, leaseMs)),
    );
    expect(claims.filter(({ kind }) => kind === 'claimed')).toHaveLength(1);
  });

  it('knows the age of what has waited longest', async () => {
    const runId = await life.first.run(await life.space());
    await life.at('-100 days').dispatching.leaveToReconciler(runId, 0);
    expect((await life.first.deliveries.oldestOverdueSeconds()) / 86_400).toBeCloseTo(100, 1);
    expect(await life.at('-200 days').deliveries.oldestOverdueSeconds()).toBe(0);
    await life.first.deliveries.takeOverdue(1);
  });
});

describe('slots that stand open', () => {
  it('are granted by the sweep, in the order of admission, after a limit was raised', async () => {
    const spaceId = await life.space({ inflightLimit: 0 });
    const runs = await many(3, spaceId);
    const order = await life.first.sql<{ id: string }>(
      'SELECT run_id AS id FROM outbox WHERE run_id = ANY($1) ORDER BY place',
      [runs],
    );
    const granted = (rows: { runId: string }[]) =>
      rows.map(({ runId }) => runId).filter((runId) => runs.includes(runId));
    expect(granted(await life.first.deliveries.promoteAll())).toEqual([]);
    await life.first.sql('UPDATE workspace SET inflight_limit = 2 WHERE id = $1', [spaceId]);
    const both = await Promise.all([life.first.deliveries.promoteAll(), life.second.deliveries.promoteAll()]);
    expect(both.flatMap(granted)).toEqual(order.slice(0, 2).map(({ id }) => id));
    expect(await life.counters(spaceId)).toMatchObject({ inflight: 2, backlog: 1 });
    await life.first.sql('UPDATE workspace SET inflight_limit = 3 WHERE id = $1', [spaceId]);
    expect(granted(await life.second.deliveries.promote(spaceId))).toEqual([order[2]?.id]);
  });
});

describe('what is live', () => {
  it('is counted by provider and state, with the money and the age', async () => {
    const spaceId = await life.space({ inflightLimit: 4 });
    const provider = 'counted';
    for (const stage of ['submitting', 'running', 'copying'] as const) {
      await life.run(stage, { spaceId, provider, reservedMicros: cents(2) });
    }
    await life.run('claimed', { spaceId, provider });
    await life.first.run(spaceId, { provider });
    const load = (await life.at('1 hour').deliveries.load()).filter((each) => each.provider === provider);
    expect(Object.fromEntries(load.map((each) => [each.state, [each.runs, each.reservedMicros]]))).toEqual({
      copying: [1, cents(2)],
      parked: [1, cents(1)],
      running: [1, cents(2)],
      submitting: [1, cents(2)],
      waiting: [1, cents(1)],
    });
    for (const { oldestSeconds } of load) expect(oldestSeconds / 3600).toBeCloseTo(1, 0);
  });

  it('is what the counters say; a counter that says otherwise is named', async () => {
    const spaceId = await life.space();
    await life.run('running', { spaceId });
    expect(await life.first.deliveries.drift()).toEqual([]);
    await life.first.sql('UPDATE workspace SET inflight = inflight + 2, held_micros = 0 WHERE id = $1', [
      spaceId,
    ]);
    expect(await life.first.deliveries.drift()).toEqual([
      { workspaceId: spaceId, counter: 'inflight', counted: 3, actual: 1 },
      { workspaceId: spaceId, counter: 'held_micros', counted: 0, actual: cents(1) },
    ]);
    await life.first.sql('UPDATE workspace SET inflight = 1, held_micros = $2 WHERE id = $1', [
      spaceId,
      cents(1),
    ]);
    expect(await life.first.deliveries.drift()).toEqual([]);
  });
});
