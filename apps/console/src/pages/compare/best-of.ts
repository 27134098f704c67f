import type { RunDetail } from '../../api/run.ts';

/** The places of the cheapest and of the fastest run, if they differ from another. Only runs with a result count. */
export function bestOf(runs: readonly (RunDetail | undefined)[]): { lowest: number; fastest: number } {
  const ended = runs.map((run) => (run?.outcome === 'succeeded' ? run : undefined));
  return {
    lowest: lowestOf(ended.map((run) => run?.cost_cents)),
    fastest: lowestOf(ended.map((run) => run?.duration_ms)),
  };
}

function lowestOf(values: readonly (number | undefined)[]): number {
  const known = values.filter((value) => value !== undefined);
  const lowest = Math.min(...known);
  return known.some((value) => value > lowest) ? values.indexOf(lowest) : -1;
}
