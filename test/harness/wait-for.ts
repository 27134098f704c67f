import { setTimeout as pause } from 'node:timers/promises';

interface WaitOptions {
  withinMs: number;
  /** Ends the sentence "Waited 500 ms for …". */
  what: string;
  everyMs?: number;
}

/**
 * Answers the first value of `condition` that is neither false nor null nor undefined. A condition that
 * throws counts as not met yet; its last error is the cause of the failure.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  options: WaitOptions,
): Promise<NonNullable<Exclude<T, false>>> {
  const lastMs = performance.now() + options.withinMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await condition();
      if (value !== false && value !== null && value !== undefined) {
        return value as NonNullable<Exclude<T, false>>;
      }
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > lastMs) {
      const why = cause instanceof Error ? `: ${cause.message}` : '';
      throw new Error(`Waited ${options.withinMs} ms for ${options.what}${why}`, { cause });
    }
    await pause(options.everyMs ?? 20);
  }
}

/**
 * The least of up to `times` measurements, the last of which is the first below `bound`: what a busy machine adds is not
 * the product's, and it adds that now and then, not each time. `attempt` counts from 1.
 */
export async function least(
  bound: number,
  measure: (attempt: number) => Promise<number>,
  times = 3,
): Promise<number> {
  let lowest = Infinity;
  for (let attempt = 1; attempt <= times && lowest >= bound; attempt += 1) {
    lowest = Math.min(lowest, await measure(attempt));
  }
  return lowest;
}
