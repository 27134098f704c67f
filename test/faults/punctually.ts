import { setTimeout as pause } from 'node:timers/promises';

/**
 * The duration in milliseconds, minus the lateness of a timer that ran beside it in this process. For limits that
 * a timer of this same process enforces.
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
