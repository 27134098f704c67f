/**
 * The simulator's clock: real time plus an offset that an admin route moves, so that a test sees a URL
 * expire without waiting. The state of every generation is computed from it when somebody asks.
 */
export interface Clock {
  now(): number;
  advance(byMs: number): void;
  reset(): void;
}

export function createClock(time: () => number = Date.now): Clock {
  let offsetMs = 0;
  return {
    now: () => time() + offsetMs,
    advance: (byMs) => void (offsetMs += byMs),
    reset: () => void (offsetMs = 0),
  };
}
