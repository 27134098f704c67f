import { type SystemSide, waitFor } from '../harness/index.js';

type Measured = SystemSide['apps'][number];

/** The sum of an app's samples of one metric over all series with these labels; 0 if there are none. */
export async function metric(
  app: Measured,
  name: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const response = await fetch(`${app.internalUrl}/metrics`, { signal: AbortSignal.timeout(20_000) });
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const samples = (await response.text())
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => wanted.every((each) => line.includes(each)))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
  return samples.reduce((sum, value) => sum + value, 0);
}

/**
 * The value of a metric once it is at least `atLeast`, because events are counted a moment after they happen.
 */
export function counted(app: Measured, name: string, atLeast: number): Promise<number> {
  const reached = async () => {
    const count = await metric(app, name);
    return count >= atLeast && count;
  };
  return waitFor(reached, { withinMs: 10_000, what: `${name} to reach ${atLeast}` });
}

/** The number of calls of one kind that a worker has made to providers. */
export const callsMade = (
  worker: Measured,
  operation: 'submit' | 'resume',
  result?: string,
): Promise<number> =>
  metric(worker, 'router_provider_request_duration_seconds_count', {
    op: operation,
    ...(result && { result }),
  });
