import { expect } from '@jest/globals';
import { type System } from '../harness/faults.js';
import { type Caller, sha256, type Submitted, waitFor } from '../harness/index.js';

/** Limits that no test of the transport reaches. */
export const roomy = { inflightLimit: 1_000, windowLimit: 100_000, committedLimitMicros: 1_000_000_000_000 };

/** Submits `count` runs with different bodies, 25 at a time, and expects a handle for each. */
export async function submitMany(
  caller: Caller,
  model: string,
  count: number,
  prompt: string,
): Promise<Submitted[]> {
  const runs: Submitted[] = [];
  for (let at = 0; at < count; at += 25) {
    const bodies = Array.from({ length: Math.min(25, count - at) }, (_each, index) =>
      bodyOf(prompt, at + index),
    );
    runs.push(...(await Promise.all(bodies.map((body) => caller.submit(model, body)))));
  }
  return runs;
}

const bodyOf = (prompt: string, index: number): string => JSON.stringify({ prompt: `${prompt} ${index}` });

/** Waits until every run has its outcome, and expects that each one succeeded and was submitted once. */
export async function expectSuccess(
  system: System,
  runs: readonly Submitted[],
  withinMs: number,
): Promise<void> {
  const ids = runs.map((run) => run.requestId);
  await waitFor(async () => (await completedOf(system, ids)) === ids.length, {
    withinMs,
    what: `${ids.length} runs to complete`,
    everyMs: 100,
  });
  const outcomes = await system.sql<{ outcome: string; bucket: string | null; runs: number }>(
    'SELECT outcome, bucket, count(*)::integer AS runs FROM run WHERE id = ANY($1) GROUP BY outcome, bucket',
    [ids],
  );
  expect(outcomes).toEqual([{ outcome: 'succeeded', bucket: null, runs: ids.length }]);
  expect(await submissionsOf(system, runs)).toEqual(runs.map(() => 1));
}

async function completedOf(system: System, ids: readonly string[]): Promise<number> {
  const [row] = await system.sql<{ runs: number }>(
    `SELECT count(*)::integer AS runs FROM run WHERE id = ANY($1) AND stage = 'completed'`,
    [ids],
  );
  return row?.runs ?? 0;
}

/** How often the provider accepted each run's bytes. */
async function submissionsOf(system: System, runs: readonly Submitted[]): Promise<number[]> {
  const accepted = new Map<string, number>();
  for (const { bodySha256 } of await system.provider.ledger()) {
    accepted.set(bodySha256, (accepted.get(bodySha256) ?? 0) + 1);
  }
  return runs.map(({ body }) => accepted.get(sha256(body)) ?? 0);
}

/**
 * Makes `count` synchronous calls at once and expects each to succeed. Returns the milliseconds from the commit
 * of each outcome to its answer.
 */
export async function heldCalls(
  system: System,
  caller: Caller,
  model: string,
  count: number,
  prompt: string,
) {
  const hold = async (body: string): Promise<number> => {
    const answer = await caller.call('POST', `/v2/models/${model}`, { body, withinMs: 60_000 });
    const answeredAtMs = Date.now();
    expect(answer.status).toBe(200);
    const [row] = await system.sql<{ at_ms: number }>(
      `SELECT (extract(epoch FROM completed_at) * 1000)::float AS at_ms FROM run JOIN payload ON run_id = run.id
       WHERE kind = 'input' AND body = $1`,
      [Buffer.from(body)],
    );
    return answeredAtMs - (row?.at_ms ?? 0);
  };
  return Promise.all(Array.from({ length: count }, (_each, index) => hold(bodyOf(prompt, index))));
}
