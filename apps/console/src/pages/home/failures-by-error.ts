import type { ListedRun } from '../../api/run-list.ts';

type ErrorType = NonNullable<ListedRun['error_type']>;

interface Failures {
  error: ErrorType;
  runs: number;
  newest: ListedRun;
}

/** Failed runs by their error, most frequent first. The runs come newest first. */
export function failuresByError(runs: readonly ListedRun[]): Failures[] {
  const byError = new Map<ErrorType, Failures>();
  for (const run of runs) {
    if (run.error_type === undefined) continue;
    const known = byError.get(run.error_type);
    if (known === undefined) byError.set(run.error_type, { error: run.error_type, runs: 1, newest: run });
    else known.runs += 1;
  }
  return [...byError.values()].sort((one, other) => other.runs - one.runs);
}
