import { setTimeout as pause } from 'node:timers/promises';

/**
 * How long it took, in milliseconds, less what this process was late for a timer that ran beside it: for what is bounded by
 * a timer of the same process.
 */
export async function punctually(act: () => Promise<unknown>): Promise<number> {
  const timerMs = 500;
  const startedAtMs = performance.now();
  const sinceMs = () => performance.now() - startedAtMs;
  const late = pause(timerMs).then(() => sinceMs() - timerMs);
  await act();
  const tookMs = sinceMs();
  return tookMs - (await late);
}
