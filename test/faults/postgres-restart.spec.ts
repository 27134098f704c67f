import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { holdToInvariants, least, System } from '../harness/faults.js';
import { failOnLeftovers, transports, waitFor } from '../harness/index.js';
import { ended } from './postgres-side.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const path = '/v2/models/bfl/flux-2-pro/requests';
const roomy = { inflightLimit: 50, windowLimit: 100_000, committedLimitMicros: 1_000_000_000_000 };

describe.each(transports())('a Postgres that dies during a flood of admissions, on %s', (transport) => {
  let system: System;
  beforeAll(async () => {
    system = await System.start({ transport, gateways: 2, workers: 2, ownPostgres: true });
  });
  afterAll(() => system.stop());

  it.each(['SIGQUIT', 'SIGKILL'] as const)(
    'by %s: 503 meanwhile, one run for every retried key, and service within 5 s',
    async (signal) => {
      const caller = await system.caller(roomy);
      const flood = startFlood(caller, signal);
      const flooded = (runs: number) =>
        waitFor(() => flood.admitted.size >= runs, { withinMs: 30_000, what: 'the flood' });
      await flooded(40);
      const servedAfterMs = await least(5_000, async () => {
        const refusals = flood.refusals + 20;
        await system.postgres.kill(signal);
        await waitFor(() => flood.refusals >= refusals, { withinMs: 30_000, what: 'refusals' });
        const admitted = flood.admitted.size;
        await system.postgres.restart();
        const upMs = performance.now();
        await flooded(admitted + 1);
        const tookMs = performance.now() - upMs;
        await flooded(admitted + 40);
        return tookMs;
      });
      await flood.stop();

      process.stdout.write(
        `${signal} on ${transport}: ${flood.admitted.size} admitted, ${flood.refusals} refusals, serving after ${servedAfterMs.toFixed(0)} ms\n`,
      );
      expect(servedAfterMs).toBeLessThan(5_000);
      expect(flood.others).toEqual([]);
      expect(ended(system.apps)).toEqual([]);
      const rows = await system.sql<{ id: string; key: string }>(
        `SELECT id, call ->> 'idempotencyKey' AS key FROM run WHERE workspace_id = $1`,
        [caller.workspaceId],
      );
      expect(rows).toHaveLength(flood.admitted.size);
      expect(new Map(rows.map((row) => [row.key, row.id]))).toEqual(flood.admitted);
      await holdToInvariants(system, 60_000);
      // Answers that the provider gave while the database was down were not lost.
      const lost = `SELECT id, bucket FROM run WHERE workspace_id = $1 AND outcome <> 'succeeded'`;
      expect(await system.sql(lost, [caller.workspaceId])).toEqual([]);
    },
  );
});

failOnLeftovers();

/** Twelve callers, each of which repeats a request until it is admitted, and then makes the next. */
function startFlood(caller: TestCaller, name: string) {
  const admitted = new Map<string, string>();
  const others: string[] = [];
  const stopping = new AbortController();
  let refusals = 0;
  let next = 0;
  const submitting = async () => {
    while (!stopping.signal.aborted) {
      const key = `${name}-${(next += 1)}`;
      const body = JSON.stringify({ prompt: key });
      for (;;) {
        const answer = await caller.call('POST', path, { body, headers: { 'idempotency-key': key } });
        if (answer.status === 201) {
          admitted.set(key, String(answer.json()['request_id']));
          break;
        }
        if (answer.status === 503 && answer.bucket === 'service_unavailable') refusals += 1;
        else others.push(`${answer.status} ${answer.bytes.toString()}`);
      }
    }
  };
  const callers = Promise.all(Array.from({ length: 12 }, submitting));
  // Awaited in stop(); a failure before that must not end the test run.
  callers.catch(() => {});
  return {
    admitted,
    others,
    get refusals() {
      return refusals;
    },
    stop: async () => {
      stopping.abort();
      await callers;
    },
  };
}
