import { endOf, type Generation } from './generation.js';

/** Concurrency facts of one group of generations. */
interface Peaks {
  accepted: number;
  /** Live at the instant of asking. */
  live: number;
  /** The most that were live at once up to the instant of asking. */
  peak: number;
}

/**
 * Computed from the intervals when somebody asks, and therefore exact: a generation is live from its
 * acceptance until just before its end.
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
