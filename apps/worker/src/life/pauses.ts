const firstMs = 500;
const longestMs = 30_000;

/** Pause in milliseconds before attempt `attempt` (1-based), doubling, with jitter so that crowds spread out. */
export function retryPauseMs(attempt: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.min(attempt - 1, 10));
  return Math.round(full * (0.5 + Math.random() / 2));
}
