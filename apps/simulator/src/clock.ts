/**
 * The simulator's clock: monotonic time plus an offset that an admin route moves, so that a test sees a URL expire
 * without waiting. Each request computes the state of generations from it. The clock is monotonic because a system
 * clock that jumps forward, as after a suspend, must not end generations.
 */
export interface Clock {
  now(): number;
  advance(byMs: number): void;
  reset(): void;
}

export function createClock(time: () => number = sinceStart): Clock {
  let offsetMs = 0;
  return {
    now: () => time() + offsetMs,
    advance: (byMs) => void (offsetMs += byMs),
    reset: () => void (offsetMs = 0),
  };
}

const sinceStart = () => Math.floor(performance.timeOrigin + performance.now());
