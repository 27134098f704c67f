import type { Expected } from './evaluated.js';
import type { MadeCall } from './known-load.js';
import type { Known, Source } from './known.js';

/** The number of items by a key of theirs. */
export function counted<T>(items: readonly T[], by: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[by(item)] = (counts[by(item)] ?? 0) + 1;
  return counts;
}

/** The calls of the counted load. */
export const callsOf = ({ load, beganMs, endedMs }: Known): MadeCall[] =>
  load.calls.filter((call) => call.beganMs >= beganMs && call.beganMs <= endedMs);

export const seconds = (calls: readonly MadeCall[]): number[] => calls.map((call) => call.seconds);

/** The finished runs by an expression, from their rows. */
export async function ofRuns(
  { load, killedMs, beganMs, endedMs }: Known,
  over: Source['over'],
  by: string,
  where: string,
): Promise<Record<string, number>> {
  const rows = await load.system.sql<{ key: string; count: number }>(
    `SELECT ${by} AS key, count(*)::integer AS count FROM run
    WHERE completed_at BETWEEN to_timestamp($1) AND to_timestamp($2) AND ${where} GROUP BY 1`,
    [(over === 'loss' ? killedMs : beganMs) / 1000, endedMs / 1000],
  );
  return Object.fromEntries(rows.map(({ key, count }) => [key, count]));
}

const columns = {
  queue: 'coalesce(granted_at, completed_at) - admitted_at',
  dispatch: 'coalesce(dispatched_at, completed_at) - granted_at',
  provider: 'coalesce(output_at, completed_at) - dispatched_at',
  assets: 'completed_at - output_at',
};

/** The time of finished runs in each phase, of one provider or all. */
export const phases = {
  from: 'the rows of the runs',
  over: 'load',
  expected: async ({ load, beganMs, endedMs }: Known, provider?: string): Promise<Expected[]> => {
    const samples = Object.fromEntries(
      await Promise.all(
        Object.entries(columns).map(async ([phase, column]) => {
          const rows = await load.system.sql<{ seconds: number }>(
            `SELECT extract(epoch FROM ${column})::float AS seconds FROM run
            WHERE completed_at BETWEEN to_timestamp($1) AND to_timestamp($2) AND ${column} IS NOT NULL
              AND ($3::text IS NULL OR provider = $3)`,
            [beganMs / 1000, endedMs / 1000, provider ?? null],
          );
          return [phase, rows.map((row) => row.seconds)] as const;
        }),
      ),
    );
    return [{ samples, factor: 2 }];
  },
} satisfies Source;

export const callers = 'the answers that the callers got';

export const times = 'the times that the callers measured';

export const records = 'the rows of the runs';

export const provider = 'the requests that the simulated provider received';

export const runs = (by: string, where = 'true', over: Source['over'] = 'load'): Source => ({
  from: records,
  over,
  expected: async (known) => [{ counts: await ofRuns(known, over, by, where) }],
});

export const live = (by: string, where = 'true'): Source => ({
  from: records,
  over: 'hold',
  expected: async ({ load }) => {
    const rows = await load.system.sql<{ key: string; count: number }>(
      `SELECT ${by} AS key, count(*)::integer AS count FROM run WHERE stage <> 'completed' AND ${where} GROUP BY 1`,
    );
    return [{ values: Object.fromEntries(rows.map(({ key, count }) => [key, count])) }];
  },
});

export const stateOf = `CASE stage WHEN 'ready' THEN 'waiting' ELSE stage END`;

const during = async ({ load, beganMs, endedMs }: Known, of: (path: string) => boolean) =>
  (await load.requests()).filter(({ path, atMs }) => of(path) && atMs >= beganMs && atMs <= endedMs);

export const submitted = (known: Known) => during(known, (path) => path === '/bfl/v1/flux-2-pro');

export const polled = (known: Known) =>
  during(known, (path) => path.startsWith('/bfl/v1/get_result') && !path.endsWith('=unknown'));

export const downloaded = (known: Known) => during(known, (path) => path.startsWith('/bfl/files/'));

/** BFL is asked this often for a run's state, in seconds. */
const pollSeconds = 0.5;

/** How much later than planned the provider received each poll. The answer to the submission, or to the poll, takes a part. */
export async function lateness(known: Known): Promise<Expected> {
  const last = new Map<string, number>();
  for (const { provider: name, id, atMs } of await known.load.system.provider.ledger())
    if (name === 'bfl') last.set(id, atMs);
  const late: number[] = [];
  for (const { path, atMs } of await polled(known)) {
    const id = new URL(path, 'http://provider.test').searchParams.get('id') ?? '';
    late.push(Math.max(0, (atMs - (last.get(id) ?? atMs)) / 1000 - pollSeconds));
    last.set(id, atMs);
  }
  return { samples: { '': late }, factor: 2, atMost: true };
}
