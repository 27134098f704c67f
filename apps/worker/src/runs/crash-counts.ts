import type { RunRepository } from '#persistence';

interface Counted {
  runId: string;
  epoch: number;
  crashes: number;
}

/**
 * How many consecutive times work on a run never returned because its worker died or froze. The row does not
 * count the first time, which only the queue noticed, so one is added.
 */
export const deathsOf = ({ crashes }: Pick<Counted, 'crashes'>): number => (crashes === 0 ? 0 : crashes + 1);

/**
 * Counts an attempt at repeatable work in the row before it begins, but only if a worker may have died over
 * it before; other work writes nothing. Disposing of the attempt resets the count, because the work has
 * returned.
 */
export async function countAttempt(
  runs: Pick<RunRepository, 'noteAttempt' | 'forgetCrashes'>,
  { runId, epoch, crashes }: Counted,
  mayHaveCrashed: boolean,
): Promise<AsyncDisposable | null> {
  if (!mayHaveCrashed && crashes === 0) return null;
  await runs.noteAttempt(runId, epoch);
  // If the reset fails, the count is too high until the next attempt, which does no harm.
  return { [Symbol.asyncDispose]: () => runs.forgetCrashes(runId, epoch).catch(() => {}) };
}
