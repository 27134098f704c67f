import type { pino } from 'pino';

/** More runs than a worker handles at the same time. */
const maxRuns = 20_000;

const calls = new Map<string, string>();

/**
 * Remembers the HTTP call that admitted a run, so that every later line of this process with the run's `run_id` also has
 * the call's id, as `call_id`. The least recently noted runs are forgotten.
 */
export function noteCall(runId: string, callId: string | undefined): void {
  if (callId === undefined) return;
  calls.delete(runId);
  calls.set(runId, callId);
  const [oldest = ''] = calls.keys();
  if (calls.size > maxRuns) calls.delete(oldest);
}

/** Adds the `call_id` to a line. */
export const withCallId: NonNullable<NonNullable<pino.LoggerOptions['hooks']>['logMethod']> = function (
  args,
  method,
) {
  const [facts, ...rest]: unknown[] = args;
  const runId = typeof facts === 'object' && facts !== null && 'run_id' in facts ? facts.run_id : undefined;
  const callId = typeof runId === 'string' ? calls.get(runId) : undefined;
  if (callId === undefined) return method.apply(this, args);
  Reflect.apply(method, this, [{ call_id: callId, ...(facts as object) }, ...rest]);
};
