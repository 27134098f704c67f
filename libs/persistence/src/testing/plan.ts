import type { Database } from '../database.js';
import type { TestProcess } from './runs.js';

/** The nodes of the plan that a list is read by, with the rows that each one really gave. */
export async function planOf(
  { database }: TestProcess,
  read: (listening: Database) => Promise<unknown>,
): Promise<{ node: string; rows: number }[]> {
  const queries: { text: string; values: unknown[] }[] = [];
  const listening = {
    list: async (_workspaceId: string, text: string, values: unknown[]) => (
      queries.push({ text, values }),
      []
    ),
  };
  await read(listening as unknown as Database);
  const [{ text, values } = { text: '', values: [] }] = queries;
  const rows = await database.registry.queryUnprepared<{ 'QUERY PLAN': string }>(
    `EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF) ${text}`,
    values,
  );
  return rows
    .map((row) => row['QUERY PLAN'])
    .filter((line) => / using (\w+) on|(Seq Scan|Sort|Bitmap \w+ Scan)|rows=/.test(line))
    .map((line) => ({ node: line.trim(), rows: Number(/rows=([\d.]+)/.exec(line)?.[1] ?? 0) }));
}
