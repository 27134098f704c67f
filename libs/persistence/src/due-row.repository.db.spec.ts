import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import type { DueRow } from './due-row.repository.js';
import { openRunFixture } from './testing/run-fixture.js';
import { planOf } from './testing/plan.js';
import { holdWorkspace, succeeded, testHandle, testModel, testProvider } from './testing/runs.js';
import { DueRowRepository } from './due-row.repository.js';

const fixture = await openRunFixture();
const bare = fixture.database.process(undefined, { hasJobs: false });
const all = ['poll', 'assets', 'webhooks'] as const;
const leaseMs = 60_000;

/** A submitted run whose poll is due now. */
async function polled(by = bare) {
  const spaceId = await fixture.space();
  const { runId, epoch } = await fixture.run('submitting', { spaceId });
  await by.runs.saveHandle(runId, epoch, testHandle, 0);
  return { spaceId, runId, epoch };
}

async function take(by = bare): Promise<DueRow[]> {
  const { rows, isFull } = await by.dueRows.take(all, leaseMs);
  return isFull ? [...rows, ...(await take(by))] : rows;
}
const takeOne = async (runId: string, by = bare): Promise<DueRow> => {
  const row = (await take(by)).find((each) => each.runId === runId);
  if (!row) throw new Error('the row is not due');
  return row;
};
const isDue = async (runId: string, by = bare) => (await take(by)).some((each) => each.runId === runId);
const rowOf = async (runId: string) => (await fixture.written(runId))['outbox'] as Record<string, unknown>;
const lapse = (runId: string) =>
  bare.sql('UPDATE outbox SET due_at = router_now() WHERE run_id = $1', [runId]);

describe('a row that is due', () => {
  it('is taken by one of two workers and is not due while it is taken', async () => {
    const { spaceId, runId } = await polled();
    const other = fixture.database.process(undefined, { hasJobs: false });
    const [mine, theirs] = await Promise.all([take(), take(other)]);
    const [row, ...more] = [...mine, ...theirs].filter((each) => each.runId === runId);
    expect(more).toEqual([]);
    expect(row).toMatchObject({ queue: 'poll', workspaceId: spaceId, provider: testProvider, attempts: 1 });
    expect(row?.lateMs).toBeGreaterThanOrEqual(0);
    expect(await isDue(runId)).toBe(false);
  });

  it('is taken in order of its due time, only from the requested queues', async () => {
    const polls = await Promise.all(Array.from({ length: 120 }, () => polled()));
    const [last] = polls;
    await bare.sql(
      `UPDATE outbox SET due_at = due_at - interval '1 hour' WHERE run_id = ANY($1) AND run_id <> $2`,
      [polls.map(({ runId }) => runId), last?.runId],
    );
    expect(await bare.dueRows.take(['assets'], leaseMs)).toEqual({ rows: [], isFull: false });
    const first = await bare.dueRows.take(all, leaseMs);
    expect([first.rows.length, first.isFull]).toEqual([100, true]);
    expect(first.rows.map(({ runId }) => runId)).not.toContain(last?.runId);
    const second = await bare.dueRows.take(all, leaseMs);
    expect([second.rows.length, second.isFull]).toEqual([20, false]);
  });

  it('is found by index and written by key, however many rows exist', async () => {
    const spaceId = await fixture.space();
    // With a third of these rows, a scan is about as cheap as 100 lookups, and the planner takes either.
    await bare.sql(
      `INSERT INTO outbox (workspace_id, run_id, provider, queue, reserved_micros, due_at)
        SELECT $1, gen_random_uuid(), 'many', 'poll', 0,
          CASE WHEN nth % 2000 < 20 THEN 'infinity' ELSE router_now() + interval '1 hour' + nth * interval '1 ms' END
        FROM generate_series(1, 60000) AS nth`,
      [spaceId],
    );
    await bare.script('ANALYZE outbox');
    await polled();
    const plan = await planOf(bare, (listening) => new DueRowRepository(listening).take(all, leaseMs));
    await bare.sql('DELETE FROM outbox WHERE workspace_id = $1', [spaceId]);
    const nodes = plan.map(({ node }) => node);
    expect(nodes.filter((node) => /Seq Scan on outbox/.test(node))).toEqual([]);
    expect(nodes.filter((node) => /using outbox_due on/.test(node)).length).toBeGreaterThan(0);
  });

  it('becomes due again only when it is put back', async () => {
    const { runId } = await polled();
    const row = await takeOne(runId);
    const back = () => bare.dueRows.putBack(row, 20_000);
    expect(await fixture.restAfter(back, runId, 20_000)).toBe(20_000);
    expect(await isDue(runId)).toBe(false);
    expect(await takeOne(runId, fixture.at('21 seconds'))).toMatchObject({ attempts: 1 });
  });

  it('is put back together with others in one statement', async () => {
    const runs = await Promise.all(Array.from({ length: 20 }, () => polled()));
    const rows = (await take()).filter(({ runId }) => runs.some((run) => run.runId === runId));
    await Promise.all(rows.map((row, nth) => bare.dueRows.putBack(row, nth * 1_000)));
    const [found] = await bare.sql<{ versions: number; rests: number }>(
      `SELECT count(DISTINCT xmin::text)::integer AS versions, count(DISTINCT due_at)::integer AS rests
        FROM outbox WHERE run_id = ANY($1)`,
      [rows.map(({ runId }) => runId)],
    );
    expect([rows.length, found]).toEqual([20, { versions: 1, rests: 20 }]);
  });

  it('of a dead worker is taken by another one when the lease has ended, with a higher attempt count', async () => {
    const { runId } = await polled();
    await takeOne(runId);
    expect(await isDue(runId, fixture.at('59 seconds'))).toBe(false);
    const row = await takeOne(runId, fixture.at('61 seconds'));
    expect(row.attempts).toBe(2);
    await bare.dueRows.putBack(row, 0);
    expect(await takeOne(runId)).toMatchObject({ attempts: 1 });
  });

  it('of a frozen worker stays with the one that took it meanwhile', async () => {
    const { runId } = await polled();
    const frozen = await takeOne(runId);
    await lapse(runId);
    const taken = await takeOne(runId, fixture.database.process(undefined, { hasJobs: false }));
    const before = await rowOf(runId);
    expect(await bare.dueRows.renew([frozen], leaseMs)).toEqual([]);
    await bare.dueRows.putBack(frozen, 0);
    expect(await rowOf(runId)).toEqual(before);
    expect(await bare.dueRows.renew([taken], leaseMs)).toEqual([runId]);
  });

  it('stays leased while work on it continues', async () => {
    const { runId } = await polled();
    const row = await takeOne(runId);
    await lapse(runId);
    const renewed = () => bare.dueRows.renew([row], leaseMs);
    expect(await fixture.restAfter(renewed, runId, leaseMs)).toBe(leaseMs);
  });

  it('becomes due if a fast clock dated it', async () => {
    const { runId } = await polled();
    await bare.sql(`UPDATE outbox SET due_at = router_now() + interval '1 day' WHERE run_id = $1`, [runId]);
    await take();
    expect(await isDue(runId)).toBe(true);
  });
});

describe('a run whose row is taken', () => {
  it('is due at once in its next queue, and its poll does not postpone it', async () => {
    const { runId, epoch } = await polled();
    const row = await takeOne(runId);
    await bare.runs.keepOutput(runId, epoch, 'application/json', Buffer.from('{}'));
    await bare.dueRows.putBack(row, 60_000);
    expect(await bare.dueRows.renew([row], leaseMs)).toEqual([]);
    expect(await takeOne(runId)).toMatchObject({ queue: 'assets', attempts: 1 });
  });

  it('does not become due when its poll saves a handle', async () => {
    const { runId, epoch, spaceId: workspaceId } = await polled();
    await takeOne(runId);
    await bare.runs.saveHandle(runId, epoch, { step: 'fetch' }, 0);
    await bare.runs.moveDue({ runId, workspaceId }, 0);
    expect(await isDue(runId)).toBe(false);
  });

  it('may end, and then nothing is put back or renewed', async () => {
    const { spaceId, runId, epoch } = await polled();
    const row = await takeOne(runId);
    await bare.finish(runId, epoch, succeeded);
    await bare.dueRows.putBack(row, 0);
    expect(await bare.dueRows.renew([row], leaseMs)).toEqual([]);
    expect(await fixture.counters(spaceId)).toMatchObject({ inflight: 0 });
  });

  it('may be locked by a waiting finish, and rows that are put back with it do not wait', async () => {
    const [locked, free] = [await polled(), await polled()];
    const rows = [await take()].flat();
    const letGo = await holdWorkspace(fixture.database.url, locked.spaceId);
    const finishing = bare.finish(locked.runId, locked.epoch, succeeded);
    const row = rows.find(({ runId }) => runId === free.runId) as DueRow;
    await bare.dueRows.putBack(row, 0);
    expect(await isDue(free.runId)).toBe(true);
    await letGo();
    await finishing;
  });
});

describe('a cancellation of a submitted run', () => {
  it('brings its poll forward, once', async () => {
    const { spaceId, runId } = await polled();
    await bare.dueRows.putBack(await takeOne(runId), 60_000);
    await bare.runs.requestCancel(spaceId, testModel, runId);
    await bare.dueRows.putBack(await takeOne(runId), 60_000);
    await bare.runs.requestCancel(spaceId, testModel, runId);
    expect(await isDue(runId)).toBe(false);
  });

  it('does not touch a poll in flight', async () => {
    const { spaceId, runId } = await polled();
    await takeOne(runId);
    await bare.runs.requestCancel(spaceId, testModel, runId);
    expect(await isDue(runId)).toBe(false);
  });
});

describe('a webhook', () => {
  it('is due at once, because no job precedes its row', async () => {
    const [fresh, later] = [await made('400 milliseconds'), await made('10 seconds')];
    const rows = await take();
    expect(rows.filter(({ runId }) => runId === fresh || runId === later)).toMatchObject([
      { queue: 'webhooks', runId: fresh, provider: 'one', attempts: 1 },
    ]);
    expect(await isDue(fresh)).toBe(false);
  });

  it('is due again after it is put back, unless it has ended', async () => {
    const runId = await made('0');
    const row = await takeOne(runId);
    await bare.dueRows.putBack(row, 0);
    expect(await takeOne(runId)).toMatchObject({ queue: 'webhooks' });
    await bare.sql(`UPDATE webhook SET ended_at = router_now(), due_at = 'infinity' WHERE run_id = $1`, [
      runId,
    ]);
    await bare.dueRows.putBack(row, 0);
    expect(await isDue(runId)).toBe(false);
  });
});

/** A webhook that is due after this delay. */
async function made(rest: string): Promise<string> {
  const runId = v7();
  await bare.sql(
    `INSERT INTO webhook (run_id, workspace_id, model, origin, completed_at, url, receiver, form, due_at)
      VALUES ($1, $2, 'one/model', 'http://router', router_now(), 'https://hook/', 'https://hook', 'standard', router_now() + $3::interval)`,
    [runId, await fixture.space(), rest],
  );
  return runId;
}
