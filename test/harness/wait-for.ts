import { setTimeout as pause } from 'node:timers/promises';

interface WaitOptions {
  withinMs: number;
  /** Completes the sentence "Waited 500 ms for …". */
  what: string;
  everyMs?: number;
}

/**
 * Returns the first value of `condition` that is not false, null or undefined. A condition that throws counts as
 * not met; its last error becomes the cause of the failure.
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
 * The lowest of up to `times` measurements, stopping at the first below `bound`. Repeating removes the occasional
 * delays of a busy machine, which are not the product's. `attempt` counts from 1.
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
