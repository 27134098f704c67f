import { readFileSync } from 'node:fs';
import type { App } from './spawn-app.js';

const mebibyte = 1024 * 1024;

/** The resident memory of an app. */
export const residentBytes = ({ pid }: Pick<App, 'pid'>): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;

/** Returns by how many bytes the memory of each app rises during an act, at its peak. */
export async function memoryRises(
  what: string,
  apps: readonly App[],
  act: () => Promise<unknown>,
): Promise<number[]> {
  const idle = apps.map(residentBytes);
  const peaks = [...idle];
  const timer = setInterval(() => {
    apps.forEach((app, index) => (peaks[index] = Math.max(peaks[index] ?? 0, residentBytes(app))));
  }, 20);
  await act().finally(() => clearInterval(timer));
  const rises = peaks.map((peak, index) => peak - (idle[index] ?? 0));
  process.stderr.write(`${what}: ${rises.map((rise) => Math.round(rise / mebibyte)).join(', ')} MiB\n`);
  return rises;
}
