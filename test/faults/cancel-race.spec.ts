import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { holdToInvariants, System } from '../harness/faults.js';
import { failOnLeftovers, type Submitted, transports, waitFor } from '../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

const pairs = 1_000;
const batch = 100;
const roomy = { inflightLimit: batch, windowLimit: 100_000, committedLimitMicros: 1_000_000_000_000 };

describe.each(transports().slice(0, 1))('a cancellation that races the completion, on %s', (transport) => {
  let system: System;
  let caller: TestCaller;
  /** The spread reaches from before the dispatch to after most outcomes; its length depends on the machine. */
  let spreadMs = 2_400;
  beforeAll(async () => {
    system = await System.start({ transport, gateways: 2, workers: 2, takesMs: 200 });
    caller = await system.caller(roomy);
  });
  afterAll(() => system.stop());

  it(`leaves one outcome in each of ${pairs} pairs, and every counter right`, async () => {
    const seen = { taken: 0, tooLate: 0, cancelled: 0, succeeded: 0 };
    for (let at = 0; at < pairs; at += batch) {
      const asked = await Promise.all(Array.from({ length: batch }, (_, index) => race(at + index)));
      const outcomes = await outcomesOf(asked.map(({ run }) => run));
      await Promise.all(
        asked.map(async ({ run, answer }) => {
          const outcome = outcomes.get(run.requestId);
          const [status, collected] = await Promise.all([caller.status(run), caller.collect(run)]);
          expect(outcome).toMatch(/^(cancelled|succeeded)$/);
          const wasCancelled = outcome === 'cancelled';
          expect({
            asked: answer,
            status: [status.json()['status'], status.json()['error_type']],
            collected: [collected.status, collected.bucket],
          }).toEqual({
            // Only an accepted request can have cancelled the run.
            asked: wasCancelled ? 202 : answer,
            status: ['COMPLETED', wasCancelled ? 'client_disconnected' : undefined],
            collected: wasCancelled ? [409, 'client_disconnected'] : [200, undefined],
          });
          seen[wasCancelled ? 'cancelled' : 'succeeded'] += 1;
          if (answer === 202) seen.taken += 1;
          else seen.tooLate += 1;
        }),
      );
      expect(await system.drift()).toEqual([]);
      const tooLate = asked.filter(({ answer }) => answer !== 202).length;
      if (tooLate < batch / 5) spreadMs *= 1.5;
      if (tooLate > batch / 2) spreadMs *= 0.7;
    }
    process.stdout.write(`cancel races on ${transport}: ${JSON.stringify(seen)}\n`);
    // It is not a race if one side always wins.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(pairs / 50);
    await holdToInvariants(system);
  });

  /** Half of the runs can be cancelled at the provider. */
  async function race(index: number): Promise<{ run: Submitted; answer: number }> {
    const model = index % 2 ? 'fal/flux-dev' : 'bfl/flux-2-pro';
    const run = await caller.submit(model, JSON.stringify({ prompt: `raced ${index}` }));
    // Most requests come early: a run is dispatched within milliseconds, and a cancellation always wins only
    // before that.
    await pause(Math.random() ** 3 * spreadMs);
    const answer = await caller.cancel(run);
    const word = answer.json()['status'];
    expect([answer.status, answer.bucket, word]).toEqual(
      answer.status === 202
        ? [202, undefined, 'CANCELLATION_REQUESTED']
        : [400, 'invalid_input', 'ALREADY_COMPLETED'],
    );
    return { run, answer: answer.status };
  }

  async function outcomesOf(runs: readonly Submitted[]): Promise<Map<string, string>> {
    return waitFor(
      async () => {
        const rows = await system.sql<{ id: string; outcome: string | null }>(
          'SELECT id, outcome FROM run WHERE id = ANY($1::uuid[]) AND outcome IS NOT NULL',
          [runs.map((run) => run.requestId)],
        );
        return rows.length === runs.length && new Map(rows.map((row) => [row.id, String(row.outcome)]));
      },
      { withinMs: 30_000, what: 'the outcomes', everyMs: 50 },
    );
  }
});

failOnLeftovers();
