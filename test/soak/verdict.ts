import type { System } from '../harness/system.js';
import type { Call } from './calls.js';

/** The result of a load. */
export interface Verdict {
  calls: number;
  /** How many calls had each result. */
  results: Map<string, number>;
  /** Seconds from admission to outcome, for runs that succeeded. */
  seconds: { p50: number; p99: number; worst: number };
  /** Runs that the provider finished while their caller waited for them. */
  finished: number;
  reached: number;
  /**
   * The runs that did not reach their callers because they were being submitted when their worker was killed or
   * frozen.
   */
  inTheAir: number;
  /** The other runs that did not reach their callers. */
  missed: Call[];
}

/** Call it once every run has its outcome. */
export async function judge(
  system: System,
  calls: readonly Call[],
  inTheAir: ReadonlySet<string>,
): Promise<Verdict> {
  const spaces = [...new Set(calls.map(({ caller }) => caller))];
  const ledgers = await Promise.all(spaces.map(({ workspace }) => system.provider.ledger(workspace)));
  const finished = new Set(
    ledgers.flatMap((entries) =>
      entries.filter(({ state }) => state === 'succeeded').map(({ prompt }) => prompt),
    ),
  );
  const waited = calls.filter(
    (call) =>
      finished.has(call.prompt) &&
      !call.providerLosesReply &&
      call.cancelAfterMs === undefined &&
      call.result !== 'connection lost',
  );
  const [seconds] = await system.sql<Verdict['seconds']>(
    `SELECT coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY took), 0) AS p50,
       coalesce(percentile_cont(0.99) WITHIN GROUP (ORDER BY took), 0) AS p99, coalesce(max(took), 0) AS worst
     FROM (SELECT extract(epoch FROM completed_at - admitted_at)::float AS took FROM run
       WHERE workspace_id = ANY($1) AND outcome = 'succeeded') AS runs`,
    [spaces.map(({ workspaceId }) => workspaceId)],
  );
  const unknown = await system.sql<{ prompt: string }>(
    `SELECT coalesce(input ->> 'prompt', input ->> 'input') AS prompt
     FROM (SELECT run_id, kind, convert_from(body, 'UTF8')::json AS input FROM payload) AS payload JOIN run ON id = run_id
     WHERE id = ANY($1) AND kind = 'input' AND bucket = 'internal_error'`,
    [[...inTheAir]],
  );
  const unknowable = new Set(unknown.map(({ prompt }) => prompt));
  const notReached = waited.filter(({ result }) => result !== 'collected');
  const missed = notReached.filter(({ prompt }) => !unknowable.has(prompt));
  return {
    calls: calls.length,
    results: countedBy(calls),
    seconds: seconds ?? { p50: 0, p99: 0, worst: 0 },
    finished: waited.length,
    reached: waited.length - notReached.length,
    inTheAir: notReached.length - missed.length,
    missed,
  };
}

function countedBy(calls: readonly Call[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { result = 'no result' } of calls) counts.set(result, (counts.get(result) ?? 0) + 1);
  return counts;
}

/**
 * Beyond the invariants of every test: nothing that a caller was given is lost, and at rest nothing is reserved.
 */
export async function brokenPromises(
  system: System,
  calls: readonly Call[],
  startMicros: number,
): Promise<string[]> {
  const handles = calls.flatMap(({ runId }) => runId ?? []);
  const there = await system.sql<{ id: string }>(
    'SELECT id FROM run WHERE id = ANY($1) AND outcome IS NOT NULL',
    [handles],
  );
  const known = new Set(there.map(({ id }) => id));
  const unrest = await system.sql<{ name: string }>(
    `SELECT name FROM workspace WHERE inflight <> 0 OR committed_micros <> 0 OR held_micros <> 0 OR backlog <> 0`,
  );
  const unbalanced = await system.sql<{ name: string; balance: number; ledger: number }>(
    `SELECT name, balance, ledger FROM (
       SELECT name, balance_micros::float AS balance, (SELECT coalesce(sum(amount_micros), 0)::float FROM ledger_entry
         WHERE workspace_id = workspace.id AND run_id IS NOT NULL) AS ledger FROM workspace) AS books
     WHERE balance <> $1 + ledger`,
    [startMicros],
  );
  return [
    ...handles.filter((id) => !known.has(id)).map((id) => `run ${id} was admitted and has no outcome`),
    ...calls
      .filter(({ result }) => result === undefined)
      .map(({ prompt }) => `"${prompt}" never got a result`),
    ...unrest.map(({ name }) => `workspace ${name} holds slots, spend or credits at rest`),
    ...unbalanced.map(({ name, balance, ledger }) => `workspace ${name} has ${balance} after ${ledger}`),
  ];
}
