import { type App, type System } from '../harness/faults.js';
import { type TransportKind, transports, waitFor } from '../harness/index.js';

/** With these settings the job of a dead or frozen worker is found within seconds instead of twenty. */
export const quick = { QUEUE_LOCK_MS: '1500', QUEUE_STALLED_MS: '300' };

/**
 * With a short lease too. A lapsed lease fails a run or counts as a crash, so even on a busy machine a live
 * worker must be able to renew it in time.
 */
export const quickLeases = { ...quick, QUEUE_LOCK_MS: '4000', CLAIM_LEASE_MS: '4000' };

/** Does the work on every transport in parallel, for tests that mostly wait. Fails after all have ended. */
export async function onEveryTransport<T>(work: (transport: TransportKind) => Promise<T>): Promise<T[]> {
  const results = await Promise.allSettled(transports().map(work));
  return results.map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** Waits until the worker has killed itself at a failpoint. */
export async function death(system: System, worker: App, withinMs = 30_000): Promise<void> {
  await waitFor(() => worker.child.signalCode === 'SIGKILL', { withinMs, what: 'the worker to be killed' });
  system.forget(worker);
}

/** Waits until the worker has reached a place named in its `FAILPOINT`. */
export async function reached(worker: App, place: string, withinMs = 30_000): Promise<void> {
  await waitFor(() => worker.logs().includes(`failpoint ${place}:`), {
    withinMs,
    what: `${place} to be reached`,
  });
}

/** Waits until the worker has logged the text. */
export async function said(worker: App, text: string, withinMs = 30_000): Promise<void> {
  await waitFor(() => worker.logs().includes(text), { withinMs, what: `"${text}" in the worker's log` });
}

/** Stops the remaining workers gracefully, so that the next test has only its own. */
export async function dismissWorkers(system: System): Promise<void> {
  await Promise.all(
    [...system.workers].map(async (worker) => {
      system.forget(worker);
      await worker.stop();
    }),
  );
}
