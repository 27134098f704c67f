import { expect } from '@jest/globals';
import { newTag, type SystemSide, type TestCaller, unending, waitFor } from '../harness/index.js';

const atOnce = 5;
const roomy = { windowLimit: 10_000, committedLimitMicros: 1_000_000_000 };

/** A workspace with this limit of calls in flight, and no other effective limit. */
export const inflight = (system: SystemSide, inflightLimit: number): Promise<TestCaller> =>
  system.caller({ ...roomy, inflightLimit });

/** Submits `runs` runs at once; they generate until the provider finishes their tag. */
export const submitUnending = (caller: TestCaller, tag: string, runs: number) =>
  Promise.all(
    Array.from({ length: runs }, (_, index) =>
      caller.submit('bfl/flux-2-pro', JSON.stringify({ prompt: `${index} [[sim:tag=${tag}]] ${unending}` })),
    ),
  );

/**
 * Submits `runs` runs of a workspace that may have five in flight, and lets the provider finish five at a time.
 * At most five are ever there, and the parked ones follow in the order of their admission.
 */
export async function passFiveAtOnce(system: SystemSide, runs: number): Promise<void> {
  const caller = await inflight(system, atOnce);
  const tag = newTag('busy');
  await submitUnending(caller, tag, runs);
  const accepted = (wanted: number) =>
    waitFor(async () => (await system.provider.accepted(tag)) === wanted, {
      withinMs: 60_000,
      what: `${wanted} runs at the provider`,
      everyMs: 50,
    });

  await accepted(atOnce);
  const parked = await system.sql<{ id: string }>(
    `SELECT run.id FROM outbox JOIN run ON run.id = run_id
     WHERE run.workspace_id = $1 AND granted_at IS NULL ORDER BY place`,
    [caller.workspaceId],
  );
  expect(parked).toHaveLength(runs - atOnce);
  for (let there = atOnce; there < runs;) {
    await system.provider.finish(tag);
    there = Math.min(runs, there + atOnce);
    await accepted(there);
  }
  await system.provider.finish(tag);
  await system.ended(caller);

  expect(await system.provider.peaks(tag)).toMatchObject({ accepted: runs, peak: atOnce });
  const granted = await system.sql<{ id: string }>(
    'SELECT id FROM run WHERE workspace_id = $1 ORDER BY granted_at, dispatched_at',
    [caller.workspaceId],
  );
  const waited = new Set(parked.map(({ id }) => id));
  expect(granted.filter(({ id }) => waited.has(id))).toEqual(parked);
  const [workspace] = await system.sql(
    `SELECT inflight, inflight_peak AS peak, (SELECT count(*)::integer FROM run
       WHERE workspace_id = workspace.id AND outcome = 'succeeded') AS succeeded FROM workspace WHERE id = $1`,
    [caller.workspaceId],
  );
  expect(workspace).toEqual({ inflight: 0, peak: atOnce, succeeded: runs });
}
