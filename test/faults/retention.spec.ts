import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { completedEarlier, happenedEarlier, holdToInvariants, least, System } from '../harness/faults.js';
import { type Answer, failOnLeftovers, type Submitted, waitFor } from '../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const model = 'bfl/flux-2-pro';
const path = `/v2/models/${model}`;
const unknown = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';

const until = (what: string, condition: () => Promise<boolean>) =>
  waitFor(condition, { withinMs: 30_000, what, everyMs: 50 });
/** The name of a partition. */
const dayName = (atMs: number) => new Date(atMs).toISOString().slice(0, 10).replaceAll('-', '');
const madeMs = (run: Submitted) => Number.parseInt(run.requestId.replace('-', '').slice(0, 12), 16);
/** The day in the run's id, whatever the current day. */
const dayOf = (run: Submitted) => dayName(madeMs(run));
const dayMs = 86_400_000;
const outlines = (answers: Answer[]) => answers.map(({ status, bucket }) => [status, bucket]);

// On one transport, because only the database expires things.
describe('an expired result', () => {
  let system: System;
  let caller: TestCaller;
  const agedOut: Submitted[] = [];

  beforeAll(async () => {
    system = await System.start({ transport: 'postgres', workers: 2, env: { RETENTION_EVERY_MS: '200' } });
    caller = await system.caller({ inflightLimit: 50 });
  });
  afterAll(() => system.stop());

  const count = async (table: string, id: string): Promise<number> => {
    const column = table === 'run' ? 'id' : 'run_id';
    return (await system.sql(`SELECT 1 FROM ${table} WHERE ${column} = $1`, [id])).length;
  };
  const exists = async (day: string, parent = 'run'): Promise<boolean> => {
    const [row] = await system.sql<{ name: string | null }>('SELECT to_regclass($1) AS name', [
      `${parent}_${day}`,
    ]);
    return row?.name !== null;
  };
  /** Retries while the tables are busy. */
  const dropDay = (day: string) =>
    until('a day to be dropped', async () => {
      await system.sql(`DROP TABLE IF EXISTS run_${day}, payload_${day}`);
      return true;
    });
  const asked = (by: TestCaller, run: Submitted) =>
    Promise.all([by.status(run), by.collect(run), by.cancel(run)]);
  const accepted = (tag: string) => system.provider.accepted(tag);

  const held = () =>
    caller.call('POST', path, {
      body: '{"prompt":"[[sim:tag=held]]"}',
      headers: { 'idempotency-key': 'held' },
    });

  /** A run that ended, moved into the past and swept. */
  async function swept(
    days: number,
    prompt: string,
    headers: Record<string, string> = {},
    partition?: 'default',
  ): Promise<{ now: Submitted; was: Submitted }> {
    const was = await caller.submit(model, JSON.stringify({ prompt }), { headers });
    await caller.completed(was);
    return { now: await sweptAs(was, days, partition), was };
  }

  async function sweptAs(was: Submitted, days: number, partition?: 'default'): Promise<Submitted> {
    const now = await happenedEarlier(system.database.url, was, days, partition);
    agedOut.push(now);
    await until('the run to be swept', async () => (await count('run', now.requestId)) === 0);
    return now;
  }

  it('loses payloads, row and day, and answers 410 to its owner and 404 to others; the books stay', async () => {
    const stranger = await system.caller();
    const { now: run } = await swept(3, 'three days ago');
    expect(await count('payload', run.requestId)).toBe(0);
    expect(await count('ledger_entry', run.requestId)).toBe(1);
    expect(await count('audit_record', run.requestId)).toBe(1);
    const day = dayOf(run);
    await until('its day to be dropped', async () => !(await exists(day)) && !(await exists(day, 'payload')));
    expect(outlines(await asked(caller, run))).toEqual(
      Array.from({ length: 3 }, () => [410, 'invalid_input']),
    );
    const foreign = await asked(stranger, run);
    const never = await asked(stranger, { ...run, requestId: unknown });
    expect(outlines(foreign)).toEqual(Array.from({ length: 3 }, () => [404, 'invalid_input']));
    expect(foreign.map(({ bytes }) => bytes.toString())).toEqual(never.map(({ bytes }) => bytes.toString()));
  });

  it('is forgotten a week later: 404', async () => {
    const { now: run } = await swept(3, 'forgotten');
    await completedEarlier(system.database.url, run, 7 * 86_400);
    const answers = await asked(caller, run);
    const never = await asked(caller, { ...run, requestId: unknown });
    expect(outlines(answers)).toEqual(Array.from({ length: 3 }, () => [404, 'invalid_input']));
    expect(answers.map(({ bytes }) => bytes.toString())).toEqual(never.map(({ bytes }) => bytes.toString()));
    expect(await count('ledger_entry', run.requestId)).toBe(1);
  });

  it('does not drop a day in which a run is live or recent', async () => {
    const parking = await system.caller({ inflightLimit: 0 });
    const submitted = await parking.submit(model, '{"prompt":"parked for five days"}');
    const parked = await happenedEarlier(system.database.url, submitted, 5);
    const fifth = dayOf(parked);
    await swept(5, 'of the same day');
    // Days are checked from the oldest on: when the fourth was dropped, the fifth had been passed over.
    const { now: younger } = await swept(4, 'of a day with nothing else');
    await until('the fourth day to be dropped', async () => !(await exists(dayOf(younger))));
    expect(await exists(fifth)).toBe(true);
    expect((await parking.status(parked)).json()).toMatchObject({ status: 'IN_QUEUE' });

    await system.sql('UPDATE workspace SET inflight_limit = 1 WHERE id = $1', [parking.workspaceId]);
    expect(await parking.completed(parked)).not.toHaveProperty('error_type');
    const { now: again } = await swept(4, 'of that day again');
    await until('the fourth day to be dropped', async () => !(await exists(dayOf(again))));
    expect(await exists(fifth)).toBe(true);
    expect((await parking.collect(parked)).status).toBe(200);
  });

  it('keeps its key: a repeated submission gets the same 201, and no second run starts', async () => {
    const headers = { 'idempotency-key': 'queued' };
    const body = JSON.stringify({ prompt: '[[sim:tag=keyed]]' });
    const submit = () => caller.call('POST', `${path}/requests`, { body, headers });
    const first = await submit();
    // A key lives for a day, so only a run without a day of its own is deleted while its key is used.
    const { now, was } = await swept(3, '[[sim:tag=keyed]]', headers, 'default');
    const again = await submit();
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(again.bytes.toString()).toBe(first.bytes.toString().replaceAll(was.requestId, now.requestId));

    await system.sql('DELETE FROM tombstone WHERE run_id = $1', [now.requestId]);
    const later = await submit();
    expect([later.status, later.bucket]).toEqual([409, 'invalid_input']);
    expect(await accepted('keyed')).toBe(1);

    await system.sql(`UPDATE idempotency_key SET expires_at = now() WHERE run_id = $1`, [now.requestId]);
    await until('the key to be deleted', async () => (await count('idempotency_key', now.requestId)) === 0);
    const fresh = await submit();
    expect([fresh.status, fresh.headers.has('idempotent-replayed')]).toEqual([201, false]);
    // Put back for the books: the first run has an audit record, but is forgotten.
    await system.sql(
      `INSERT INTO tombstone (run_id, workspace_id, model, completed_at) SELECT run_id, workspace_id, model, completed_at FROM audit_record WHERE run_id = $1`,
      [now.requestId],
    );
  });

  it('of a synchronous call answers a retry with 409, and no second run starts', async () => {
    expect((await held()).status).toBe(200);
    const [row] = await system.sql<{ id: string }>(
      `SELECT run_id AS id FROM idempotency_key WHERE key = 'held'`,
    );
    await sweptAs({ requestId: row?.id ?? '', model, body: '{"prompt":"[[sim:tag=held]]"}' }, 3);
    const again = await held();
    expect([again.status, again.bucket]).toEqual([409, 'invalid_input']);
    expect(await accepted('held')).toBe(1);
  });

  it('keeps ledger entry and audit record for thirteen months', async () => {
    const { now: young } = await swept(380, 'twelve and a half months ago');
    const { now: old } = await swept(400, 'more than thirteen months ago');
    await until(
      'the old entries to be deleted',
      async () =>
        (await count('ledger_entry', old.requestId)) + (await count('audit_record', old.requestId)) === 0,
    );
    expect(await count('ledger_entry', young.requestId)).toBe(1);
    expect(await count('audit_record', young.requestId)).toBe(1);
  });

  it('waits for a long reader, without blocking anyone', async () => {
    const run = await caller.submit(model, '{"prompt":"while somebody reads"}');
    await caller.completed(run);
    let sixth = '';
    const reader = new Client({ connectionString: system.database.url });
    await reader.connect();
    try {
      const all = (signal: NodeJS.Signals) => Promise.all(system.workers.map((each) => each.kill(signal)));
      await all('SIGSTOP');
      const old = await happenedEarlier(system.database.url, run, 6);
      agedOut.push(old);
      sixth = dayOf(old);
      await reader.query('BEGIN; SELECT 1 FROM run LIMIT 1');
      await all('SIGCONT');
      await until('a drop that waits for the reader', async () => {
        const waiting = await system.sql(
          `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%drop_day%'`,
        );
        return waiting.length > 0;
      });
      const beside: Submitted[] = [];
      const submitMs = async () => {
        const startMs = performance.now();
        beside.push(await caller.submit(model, `{"prompt":"beside a reader ${beside.length}"}`));
        return performance.now() - startMs;
      };
      while (beside.length < 20) expect(await least(1500, submitMs)).toBeLessThan(1500);
      expect(await exists(sixth)).toBe(true);
    } finally {
      await reader.end();
    }
    await until('the day to be dropped', async () => !(await exists(sixth)));
  });

  it('creates the partitions of coming days', async () => {
    const day = dayName(Date.now() + 7 * dayMs);
    await dropDay(day);
    await until(
      'the partitions of the coming days',
      async () => (await exists(day)) && (await exists(day, 'payload')),
    );
  });

  it('expires in the default partition too, whose rows block the creation of their own day only', async () => {
    const run = await caller.submit(model, '{"prompt":"by a clock that is a week ahead"}');
    await caller.completed(run);
    const ahead = await happenedEarlier(system.database.url, run, -7, 'default');
    agedOut.push(ahead);
    const [row] = await system.sql<{ partition: string }>(
      'SELECT tableoid::regclass::text AS partition FROM run WHERE id = $1',
      [ahead.requestId],
    );
    expect(row?.partition).toBe('run_default');
    const [sixth, seventh] = [dayName(madeMs(ahead) - dayMs), dayOf(ahead)];
    await dropDay(sixth);
    await until('the sixth day to be created', () => exists(sixth));
    expect(await exists(seventh)).toBe(false);
    expect((await caller.collect(ahead)).status).toBe(200);

    await completedEarlier(system.database.url, ahead, 9 * 86_400);
    await until('the run to be swept', async () => (await count('run', ahead.requestId)) === 0);
    expect((await caller.collect(ahead)).status).toBe(410);
    await until('the seventh day to be created', () => exists(seventh));
  });

  it('keeps every invariant', () => holdToInvariants(system, 30_000, agedOut));
});

failOnLeftovers();
