import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { openRunFixture } from './testing/run-fixture.js';
import { cents, succeeded, testProvider } from './testing/runs.js';

const fixture = await openRunFixture();

const running = async (count: number, spaceId: string) =>
  (await Promise.all(Array.from({ length: count }, () => fixture.run('running', { spaceId })))).map(
    ({ runId }) => runId,
  );
const many = (count: number, spaceId: string) =>
  Promise.all(Array.from({ length: count }, () => fixture.first.run(spaceId)));

describe('an overdue row', () => {
  it.each([
    ['running', 'poll'],
    ['copying', 'assets'],
  ] as const)(
    'belongs to a run that the queue has lost: %s comes back in its own queue',
    async (stage, queue) => {
      const { runId } = await fixture.run(stage);
      expect(await fixture.at('2 hours').outbox.takeOverdue(10_000)).toContainEqual({
        runId,
        provider: testProvider,
        queue,
        waited: false,
      });
    },
  );

  it('does not belong to a run before its submission: sweeps bring those back', async () => {
    const spaceId = await fixture.space();
    const putOff = await fixture.run('submitting', { spaceId });
    await fixture.first.dispatch.postpone(putOff.runId, putOff.epoch, 1_000);
    const runs = [
      await fixture.first.run(spaceId),
      (await fixture.run('claimed', { spaceId })).runId,
      (await fixture.run('submitting', { spaceId })).runId,
      putOff.runId,
    ];
    const before = await Promise.all(runs.map((runId) => fixture.written(runId)));
    const overdue = await fixture.overdueAt('2 hours');
    for (const runId of runs) expect(overdue).not.toContain(runId);
    expect(await Promise.all(runs.map((runId) => fixture.written(runId)))).toEqual(before);
  });

  it('does not belong to a parked or completed run', async () => {
    const parked = await fixture.first.run(await fixture.space({ inflightLimit: 0 }));
    const { runId } = await fixture.run('completed');
    const overdue = await fixture.overdueAt('10 years');
    expect(overdue).not.toContain(parked);
    expect(overdue).not.toContain(runId);
  });

  it('does not belong to a granted run, which waits for a worker', async () => {
    const spaceId = await fixture.space({ inflightLimit: 1 });
    const { runId, epoch } = await fixture.run('running', { spaceId });
    const parked = await fixture.first.run(spaceId);
    await fixture.first.finish(runId, epoch, succeeded);
    expect(await fixture.overdueAt('1 minute')).not.toContain(parked);
    expect(await fixture.first.dispatch.linesToLookAt()).toContain(testProvider);
    expect(await fixture.claim(parked)).toMatchObject({ epoch: 1 });
  });

  it('brings back every dispatch and poll after the queue loses all jobs', async () => {
    const spaceId = await fixture.space();
    const waiting = await many(20, spaceId);
    const polled = await Promise.all(Array.from({ length: 20 }, () => fixture.run('running', { spaceId })));
    const runs = polled.map(({ runId }) => runId);
    const back = (await fixture.overdueAt('1 day')).filter((runId) => runs.includes(runId));
    expect(back.toSorted()).toEqual(runs.toSorted());
    for (const runId of waiting) expect(await fixture.first.take(runId, 'claimed')).toBe(1);
    for (const { runId, epoch } of polled) {
      expect(await fixture.first.runs.readForPoll(runId)).toMatchObject({ stage: 'running', epoch });
    }
  });
});

it('a row dated by a clock that was a day fast becomes due on the second look', async () => {
  const { runId } = await fixture.run('running', { by: fixture.at('1 day') });
  const { runId: sentId } = await fixture.run('submitting', { by: fixture.at('1 day') });
  const { runId: endedId } = await fixture.run('completed');
  await fixture.first.sql(
    `INSERT INTO webhook (run_id, workspace_id, model, origin, completed_at, url, receiver, form, due_at)
      SELECT id, workspace_id, model, '', now(), 'https://receiver.example', 'caller', 'standard', now() + interval '1 day'
      FROM run WHERE id = $1`,
    [endedId],
  );
  expect(await fixture.overdueAt('1 minute')).not.toContain(runId);
  expect(await fixture.overdueAt('1 minute')).toEqual(expect.arrayContaining([runId, endedId]));
  expect(await fixture.swept(sentId, fixture.at('1 minute'))).toMatchObject({ kind: 'abandoned' });
});

describe('the reconciler', () => {
  it('postpones the rows it took, and takes them again if they are lost again', async () => {
    const { runId, spaceId: workspaceId } = await fixture.run('running');
    const swept = () => fixture.first.outbox.takeOverdue(10_000);
    await fixture.first.runs.leaveToReconciler({ runId, workspaceId }, 0);
    expect(await fixture.restAfter(swept, runId, 10_000)).toBe(10_000);
    expect(await fixture.overdueAt('1 hour')).toContain(runId);
    expect(await fixture.overdueAt('2 hours')).toContain(runId);
  });

  it('takes the rows that have waited longest, up to its limit', async () => {
    const workspaceId = await fixture.space();
    const runs = await running(3, workspaceId);
    const [first, second, third] = runs as [string, string, string];
    await fixture.at('-1 day').runs.leaveToReconciler({ runId: second, workspaceId }, 0);
    await fixture.at('-2 days').runs.leaveToReconciler({ runId: third, workspaceId }, 0);
    await fixture.at('-3 days').runs.leaveToReconciler({ runId: first, workspaceId }, 0);
    const one = async () => (await fixture.first.outbox.takeOverdue(1)).map(({ runId }) => runId);
    expect([await one(), await one(), await one()]).toEqual([[first], [third], [second]]);
  });

  it('shares the rows with concurrent reconcilers, and no row is taken twice', async () => {
    const runs = await running(120, await fixture.space());
    const later = fixture.at('1 hour');
    await fixture.overdueAt('30 minutes');
    const taken = await Promise.all(Array.from({ length: 12 }, () => later.outbox.takeOverdue(20)));
    const ids = taken.flat().map(({ runId }) => runId);
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await later.outbox.takeOverdue(10_000);
    expect(new Set([...ids, ...rest.map(({ runId }) => runId)])).toEqual(new Set([...ids, ...runs]));
  });

  it('skips locked rows', async () => {
    const runs = await running(10, await fixture.space());
    const held = runs.slice(0, 4);
    const other = new Client({ connectionString: fixture.database.url });
    await other.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT FROM outbox WHERE run_id = ANY($1) FOR UPDATE', [held]);
      const mine = (await fixture.overdueAt('3 hours')).filter((runId) => runs.includes(runId));
      expect(mine.toSorted()).toEqual(runs.slice(4).toSorted());
      await other.query('COMMIT');
      expect(await fixture.overdueAt('3 hours')).toEqual(expect.arrayContaining(held));
    } finally {
      await other.end();
    }
  });

  it('knows the age of the oldest overdue row', async () => {
    const workspaceId = await fixture.space();
    const runId = await fixture.first.run(workspaceId);
    await fixture.at('-100 days').runs.leaveToReconciler({ runId, workspaceId }, 0);
    expect((await fixture.first.outbox.oldestOverdueSeconds()) / 86_400).toBeCloseTo(100, 1);
    expect(await fixture.at('-200 days').outbox.oldestOverdueSeconds()).toBe(0);
    await fixture.first.outbox.takeOverdue(1);
  });
});

describe('free slots', () => {
  it('are granted by the reconciler, in the order of admission, after a limit was raised', async () => {
    const spaceId = await fixture.space({ inflightLimit: 0 });
    const runs = await many(3, spaceId);
    const order = await fixture.first.sql<{ id: string }>(
      'SELECT run_id AS id FROM outbox WHERE run_id = ANY($1) ORDER BY place',
      [runs],
    );
    const granted = (rows: { runId: string }[]) =>
      rows.map(({ runId }) => runId).filter((runId) => runs.includes(runId));
    expect(granted(await fixture.first.outbox.promoteAll())).toEqual([]);
    await fixture.first.sql('UPDATE workspace SET inflight_limit = 2 WHERE id = $1', [spaceId]);
    const both = await Promise.all([fixture.first.outbox.promoteAll(), fixture.second.outbox.promoteAll()]);
    expect(both.flatMap(granted)).toEqual(order.slice(0, 2).map(({ id }) => id));
    expect(await fixture.counters(spaceId)).toMatchObject({ inflight: 2, backlog: 1 });
    await fixture.first.sql('UPDATE workspace SET inflight_limit = 3 WHERE id = $1', [spaceId]);
    expect(granted(await fixture.second.promote(spaceId))).toEqual([order[2]?.id]);
  });
});

describe('the load', () => {
  it('is counted by provider and state, with reserved amounts and ages', async () => {
    const spaceId = await fixture.space({ inflightLimit: 5 });
    const provider = 'counted';
    for (const stage of ['submitting', 'running', 'copying'] as const) {
      await fixture.run(stage, { spaceId, provider, reservedMicros: cents(2) });
    }
    await fixture.run('claimed', { spaceId, provider });
    await fixture.first.run(spaceId, { provider });
    await fixture.first.run(spaceId, { provider });
    const load = (await fixture.at('1 hour').outbox.load()).filter((each) => each.provider === provider);
    expect(Object.fromEntries(load.map((each) => [each.state, [each.runs, each.reservedMicros]]))).toEqual({
      copying: [1, cents(2)],
      parked: [1, cents(1)],
      running: [1, cents(2)],
      submitting: [2, cents(3)],
      waiting: [1, cents(1)],
    });
    for (const { oldestSeconds } of load) expect(oldestSeconds / 3600).toBeCloseTo(1, 0);
  });

  it('counts waiting time from the grant of the slot, however long a run was parked', async () => {
    const spaceId = await fixture.space({ inflightLimit: 0 });
    const provider = 'granted-late';
    await fixture.first.run(spaceId, { provider });
    await fixture.first.sql('UPDATE workspace SET inflight_limit = 1 WHERE id = $1', [spaceId]);
    await fixture.at('1 hour').promote(spaceId);
    const load = await fixture.at('61 minutes').outbox.load();
    const [waiting] = load.filter((each) => each.provider === provider);
    expect(waiting).toMatchObject({ state: 'waiting', runs: 1 });
    expect(Number(waiting?.oldestSeconds) / 60).toBeCloseTo(61, 0);
    expect(Number(waiting?.waitedSeconds) / 60).toBeCloseTo(1, 0);
  });

  it('matches the counters, and a counter that differs is reported', async () => {
    const spaceId = await fixture.space();
    await fixture.run('running', { spaceId });
    expect(await fixture.first.outbox.drift()).toEqual([]);
    await fixture.first.sql('UPDATE workspace SET inflight = inflight + 2, held_micros = 0 WHERE id = $1', [
      spaceId,
    ]);
    expect(await fixture.first.outbox.drift()).toEqual([
      { workspaceId: spaceId, counter: 'inflight', counted: 3, actual: 1 },
      { workspaceId: spaceId, counter: 'held_micros', counted: 0, actual: cents(1) },
    ]);
    await fixture.first.sql('UPDATE workspace SET inflight = 1, held_micros = $2 WHERE id = $1', [
      spaceId,
      cents(1),
    ]);
    expect(await fixture.first.outbox.drift()).toEqual([]);
  });
});
