/**
 * The simulator's clock: real time plus an offset that an admin route moves, so that a test sees a URL
 * expire without waiting. The state of every generation is computed from it when somebody asks. A machine
 * whose clock is set forward meanwhile, as after a pause, must not end them.
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
