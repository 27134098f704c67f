import { readRuns, type Run, type RunQuery } from './use-runs.ts';

/** A browser holds the file until it is saved. */
export const maxExported = 10_000;

/** The matching runs, newest first, at most `maxExported`. */
export async function matchingRuns(query: RunQuery, signal: AbortSignal): Promise<Run[]> {
  const runs: Run[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await readRuns(cursor === undefined ? query : { ...query, cursor }, signal);
    runs.push(...page.data);
    cursor = page.next_cursor;
    if (cursor === undefined || runs.length >= maxExported) return runs.slice(0, maxExported);
  }
}
