import type { RunRepository } from '#persistence';

interface Counted {
  runId: string;
  epoch: number;
  crashes: number;
}

/**
 * Times in a row that work on a run never returned because its worker died or froze. The row does not count the first one:
 * only the queue noticed it, and the queue is not trusted.
 */
export const deathsOf = ({ crashes }: Pick<Counted, 'crashes'>): number => (crashes === 0 ? 0 : crashes + 1);

/**
 * Counts an attempt at repeatable work in the row before it begins, once a worker may have died over it; disposing of the
 * attempt, because the work has returned, forgets the count. All other work writes nothing.
 */
export async function countAttempt(
  runs: Pick<RunRepository, 'noteAttempt' | 'forgetCrashes'>,
  { runId, epoch, crashes }: Counted,
  mayHaveCrashed: boolean,
): Promise<AsyncDisposable | null> {
  if (!mayHaveCrashed && crashes === 0) return null;
  await runs.noteAttempt(runId, epoch);
  // A count that is too high until the next attempt does no harm.
  return { [Symbol.asyncDispose]: () => runs.forgetCrashes(runId, epoch).catch(() => {}) };
}
