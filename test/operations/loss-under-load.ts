import { expect } from '@jest/globals';
import { setTimeout as pause } from 'node:timers/promises';
import { expectSuccess } from '../faults/crowd.js';
import { holdToInvariants, type System } from '../harness/faults.js';
import type { Answer, Caller, Submitted } from '../harness/index.js';

const model = 'bfl/flux-2-pro';
const loadMs = 20_000;
const firstRuns = 20;
/**
 * Allows for the nodes' failure detection, 2 s of silence and a vote, and for new connections of the clients.
 */
const againWithinMs = 30_000;

interface Load {
  /** Name of the lost part, for the printed line. */
  name: string;
  caller: Caller;
  /** Resolves when the replacement has taken over. */
  lose: () => Promise<void>;
}

/**
 * Loses a part under a load of runs, and expects that no run is lost or submitted twice. Returns the number of
 * rejected submissions, each of which is retried with its key until it is admitted.
 */
export async function expectLossless(system: System, { name, caller, lose }: Load): Promise<number> {
  const runs: Submitted[] = [];
  let refusals = 0;
  let longestMs = 0;
  let losing: Promise<void> | undefined;
  const submit = async (body: string, key: string): Promise<Answer> => {
    for (;;) {
      const path = `/v2/models/${model}/requests`;
      const answer = await caller.call('POST', path, { body, headers: { 'idempotency-key': key } });
      if (answer.status === 201) return answer;
      expect([answer.status, answer.bucket]).toEqual([503, 'service_unavailable']);
      refusals += 1;
      await pause(50);
    }
  };
  const lastMs = performance.now() + loadMs;
  while (performance.now() < lastMs) {
    const body = JSON.stringify({ prompt: `${name} ${runs.length} [[sim:takes=500]]` });
    const startedAtMs = performance.now();
    const answer = await submit(body, `run-${runs.length}`);
    longestMs = Math.max(longestMs, performance.now() - startedAtMs);
    runs.push({ requestId: String(answer.json()['request_id']), model, body });
    if (runs.length === firstRuns) losing = lose();
    await pause(50);
  }
  await losing;
  await expectSuccess(system, runs, againWithinMs + 60_000);
  expect(new Set(runs.map(({ requestId }) => requestId)).size).toBe(runs.length);
  await holdToInvariants(system);
  process.stdout.write(
    `${name}: ${runs.length} runs, ${Math.round(longestMs)} ms without admission, ${refusals} refused, 0 lost, 0 doubled\n`,
  );
  expect(longestMs).toBeLessThan(againWithinMs);
  return refusals;
}
