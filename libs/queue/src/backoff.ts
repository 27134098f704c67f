/** Milliseconds before reconnection attempt `times` (from 1): doubles from 50 ms and never exceeds 2 s. */
export function reconnectDelayMs(times: number): number {
  return Math.min(2_000, 50 * 2 ** Math.min(times - 1, 10));
}
