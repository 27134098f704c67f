import { endOf, type Generation } from './generation.js';

/** Concurrency of a group of generations. */
interface Peaks {
  accepted: number;
  /** Live at the time of the request. */
  live: number;
  /** The most that were live at once, up to the time of the request. */
  peak: number;
}

/**
 * Computed exactly, from the generations' intervals. A generation is live from its acceptance until just before its
 * end.
 */
export function peaksOf(generations: readonly Generation[], nowMs: number): Peaks {
  const starts = generations.map((each) => each.atMs).sort((a, b) => a - b);
  const ends = generations.map(endOf).sort((a, b) => a - b);
  let ended = 0;
  let peak = 0;
  for (const [index, startMs] of starts.entries()) {
    while ((ends[ended] ?? Infinity) <= startMs) ended += 1;
    peak = Math.max(peak, index + 1 - ended);
  }
  const live = generations.filter((each) => endOf(each) > nowMs).length;
  return { accepted: generations.length, live, peak };
}
