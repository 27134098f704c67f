const minute = 60_000;
const hour = 60 * minute;

/** Pauses after the first try, the second, …; together they last 23 hours and 37 minutes. */
const pausesMs = [10_000, minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 15 * hour];

/** When a webhook that failed so many times is tried again, in milliseconds; null when it is given up. */
export function nextTryMs(failed: number): number | null {
  const pauseMs = pausesMs[failed - 1];
  // With jitter, so that what failed together does not come back together.
  return pauseMs === undefined ? null : Math.round(pauseMs * (0.9 + Math.random() / 10));
}
