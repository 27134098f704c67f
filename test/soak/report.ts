import type { PhaseReport } from './soak.js';

/**
 * The minimum share of finished runs that reached their callers, except those in flight when their worker
 * went away.
 */
const minReached = 0.995;

export const held = ({ broken, finished, inTheAir, reached }: PhaseReport): boolean =>
  broken.length === 0 && reached >= (finished - inTheAir) * minReached;

/** The report of a phase as text. */
export function linesOf(report: PhaseReport): string[] {
  const { name, acts, calls, results, seconds, finished, reached, inTheAir, missed, broken } = report;
  return [
    ...(acts.size > 0 ? [`${name}: ${counts(acts)}`] : []),
    `${name}: ${calls} calls: ${counts(results)}; at rest ${report.drainedSeconds.toFixed(0)} s after the last`,
    `${name}: run time p50 ${seconds.p50.toFixed(1)} s, p99 ${seconds.p99.toFixed(1)} s, worst ${seconds.worst.toFixed(1)} s`,
    `${name}: ${reached} of ${finished} finished runs reached their callers: ${percent(reached, finished)}; ` +
      `without ${inTheAir} in flight when their worker went away ${percent(reached, finished - inTheAir)} (aim: ≥ ${minReached * 100} %)`,
    ...missed.map(
      ({ prompt, runId, result }) => `${name}: not reached: run ${runId} of "${prompt}" ended as ${result}`,
    ),
    ...broken.map((line) => `${name}: BROKEN ${line}`),
  ];
}

const percent = (part: number, of: number): string => `${(of === 0 ? 100 : (part / of) * 100).toFixed(2)} %`;

const counts = (of: ReadonlyMap<string, number>): string =>
  [...of]
    .toSorted(([, a], [, b]) => b - a)
    .map(([what, times]) => `${times} × ${what}`)
    .join(', ');
