import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { holdToInvariants, least, System } from '../harness/faults.js';
import { failOnLeftovers, type Submitted, transports, waitFor } from '../harness/index.js';
import { ended } from './postgres-side.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const model = 'bfl/flux-2-pro';
const path = `/v2/models/${model}/requests`;
const pool = 4;

describe.each(transports().slice(0, 1))('a slow query of an operator, on %s', (transport) => {
  let system: System;
  beforeAll(async () => {
    const env = { DATABASE_POOL: String(pool), DATABASE_ACQUIRE_MS: '2000', DATABASE_STATEMENT_MS: '5000' };
    system = await System.start({ transport, env });
  });
  afterAll(() => system.stop());

  it('that locks workspaces blocks all admission connections: admissions get 503, status and collect answer as usual', async () => {
    const spaces = await Promise.all(Array.from({ length: pool + 2 }, () => system.caller()));
    const asking = spaces[0] as TestCaller;
    const finished = await asking.submit(model, '{"prompt":"finished before"}');
    await asking.completed(finished);

    const release = await lockWorkspaces(spaces);
    const submit = (space: TestCaller, at: number) =>
      space.call('POST', path, {
        body: JSON.stringify({ prompt: `held back ${at}` }),
        headers: { 'idempotency-key': 'held-back' },
      });
    const lookMs = async () => {
      const startMs = performance.now();
      const [status, collected] = await Promise.all([asking.status(finished), asking.collect(finished)]);
      expect([status.status, collected.status]).toEqual([200, 200]);
      return performance.now() - startMs;
    };
    const tookMs = await least(10_000, async () => {
      const startMs = performance.now();
      const submitting = Promise.all(spaces.map(submit));
      await waitFor(async () => (await waitingSessions()) >= pool, {
        withinMs: 10_000,
        what: 'the pool to be exhausted',
      });
      for (let looks = 0; looks < 50; looks += 1) expect(await least(500, lookMs)).toBeLessThan(500);
      const ready = await fetch(`${system.gateways[0]?.url}/health/ready`);
      expect(ready.status).toBe(200);
      const refused = await submitting;
      expect(refused.map((answer) => `${answer.status} ${answer.bucket}`)).toEqual(
        spaces.map(() => '503 service_unavailable'),
      );
      return performance.now() - startMs;
    });
    process.stdout.write(`refused after ${tookMs.toFixed(0)} ms\n`);
    expect(tookMs).toBeLessThan(10_000);

    await release();
    const admitted = await Promise.all(spaces.map(submit));
    expect(admitted.map((answer) => answer.status)).toEqual(spaces.map(() => 201));
    await holdToInvariants(system);
    const [row] = await system.sql<{ runs: number }>('SELECT count(*)::integer AS runs FROM run');
    expect(row?.runs).toBe(spaces.length + 1);
    expect(ended(system.apps)).toEqual([]);
  });

  it('that locks one workspace delays no other', async () => {
    const [held, free] = [await system.caller(), await system.caller()];
    const release = await lockWorkspaces([held]);
    const waiting = held.call('POST', path, { body: '{"prompt":"waits"}' });
    await waitFor(async () => (await waitingSessions()) === 1, { withinMs: 10_000, what: 'the wait' });
    const runs: Submitted[] = [];
    const submitMs = async () => {
      const startMs = performance.now();
      runs.push(await free.submit(model, `{"prompt":"does not wait ${runs.length}"}`));
      return performance.now() - startMs;
    };
    expect(await least(1_000, submitMs)).toBeLessThan(1_000);
    // Release before the waiting statement's time limit.
    await release();
    expect((await waiting).status).toBe(201);
    await Promise.all(runs.map((run) => free.completed(run)));
    await holdToInvariants(system);
  });

  async function lockWorkspaces(spaces: readonly TestCaller[]): Promise<() => Promise<void>> {
    const operator = new Client({ connectionString: system.database.url });
    await operator.connect();
    await operator.query('BEGIN');
    await operator.query('SELECT 1 FROM workspace WHERE id = ANY($1::uuid[]) FOR UPDATE', [
      spaces.map((space) => space.workspaceId),
    ]);
    return () => operator.end();
  }

  async function waitingSessions(): Promise<number> {
    const [row] = await system.sql<{ sessions: number }>(
      `SELECT count(*)::integer AS sessions FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%admit(%'`,
    );
    return row?.sessions ?? 0;
  }
});

failOnLeftovers();
