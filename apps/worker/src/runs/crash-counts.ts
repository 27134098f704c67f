import type { RunRepository } from '#persistence';

interface Counted {
  runId: string;
  epoch: number;
  crashes: number;
}

/**
 * How often in a row work on a run never returned because its worker died or froze. The first time is not counted: the
 * queue alone has noticed it, and the queue is not believed.
 */
export const deathsOf = ({ crashes }: Pick<Counted, 'crashes'>): number => (crashes === 0 ? 0 : crashes + 1);

/**
 * Does work that may be repeated. Once a worker may have died over it, each attempt is counted in the row before it
 * begins, and the count is forgotten when one returns; all other work writes nothing.
 */
export async function countingCrashes<Result>(
  runs: Pick<RunRepository, 'noteAttempt' | 'forgetCrashes'>,
  { runId, epoch, crashes }: Counted,
  mayHaveCrashed: boolean,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!mayHaveCrashed && crashes === 0) return work();
  await runs.noteAttempt(runId, epoch);
  try {
    return await work();
  } finally {
    // A count that is too high until the next attempt does no harm.
    await runs.forgetCrashes(runId, epoch).catch(() => {});
  }
}
