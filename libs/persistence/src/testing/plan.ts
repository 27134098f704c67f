import type { Database } from '../database.js';
import type { ConnectionPool } from '../pools.js';
import type { TestProcess } from './runs.js';

/** The plan nodes of the first query that `read` makes, with the actual number of rows per loop. */
export async function planOf(
  { database }: TestProcess,
  read: (listening: Database) => Promise<unknown>,
): Promise<{ node: string; rows: number; loops: number }[]> {
  const queries: { text: string; values: unknown[]; pool: Pick<ConnectionPool, 'queryUnprepared'> }[] = [];
  const listening = {
    list: async (_workspaceId: string, text: string, values: unknown[]) => (
      queries.push({ text, values, pool: database.registry }),
      []
    ),
    work: {
      query: async (text: string, values: unknown[]) => (
        queries.push({ text, values, pool: database.work }),
        []
      ),
    },
  };
  await read(listening as unknown as Database);
  const [query] = queries;
  if (!query) throw new Error('nothing was read');
  const { text, values, pool } = query;
  const rows = await pool.queryUnprepared<{ 'QUERY PLAN': string }>(
    `EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF) ${text}`,
    values,
  );
  return rows
    .map((row) => row['QUERY PLAN'])
    .filter((line) => / using (\w+) on|(Seq Scan|Sort|Bitmap \w+ Scan)|rows=/.test(line))
    .map((line) => ({
      node: line.trim(),
      rows: Number(/rows=([\d.]+)/.exec(line)?.[1] ?? 0),
      loops: Number(/loops=(\d+)/.exec(line)?.[1] ?? 1),
    }));
}
