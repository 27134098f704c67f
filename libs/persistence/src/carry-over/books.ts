import type { Query } from '../pools.js';
import { amounts, type CarriedTable } from './tables.js';

/** Micro-dollars as decimal digits, because a sum may exceed the exact range of a number. */
interface Sum {
  all: string;
  /** Amounts by workspace id. Null if every amount is null, such as the balance of unlimited credits. */
  workspaces: Record<string, string | null>;
}

/** The figures that must not change: row counts by table, and the sum of each amount by `table.column`. */
export interface Books {
  rows: Record<string, number>;
  sums: Record<string, Sum>;
}

/** Reads both from the tables, which also proves that every row was written. */
export async function readBooks(
  sql: Query,
  tables: ReadonlyMap<CarriedTable, readonly string[]>,
): Promise<Books> {
  const books: Books = { rows: {}, sums: {} };
  for (const table of tables.keys()) {
    const [counted] = await sql<{ rows: string }>(`SELECT count(*)::text AS rows FROM ${table}`);
    books.rows[table] = Number(counted?.rows);
  }
  for (const { table, column, workspace } of amounts) {
    if (!tables.get(table)?.includes(column)) continue;
    const sums = await sql<{ workspace: string; micros: string | null }>(
      `SELECT ${workspace}::text AS workspace, sum(${column})::text AS micros FROM ${table} GROUP BY 1 ORDER BY 1`,
    );
    books.sums[`${table}.${column}`] = {
      all: String(sums.reduce((all, { micros }) => all + BigInt(micros ?? 0), 0n)),
      workspaces: Object.fromEntries(sums.map(({ workspace, micros }) => [workspace, micros])),
    };
  }
  return books;
}

/** Describes the first difference, considering only the tables and amounts in `found`. Null if there is none. */
export function difference(expected: Books, found: Books): string | null {
  for (const [table, rows] of Object.entries(found.rows)) {
    if (expected.rows[table] !== rows) return `${table} has ${rows} rows instead of ${expected.rows[table]}`;
  }
  for (const [amount, sum] of Object.entries(found.sums)) {
    const { all, workspaces } = expected.sums[amount] ?? { all: undefined, workspaces: {} };
    if (sum.all !== all) return `the sum of ${amount} is ${sum.all} instead of ${all}`;
    for (const id of new Set([...Object.keys(workspaces), ...Object.keys(sum.workspaces)])) {
      if (workspaces[id] !== sum.workspaces[id])
        return `the sum of ${amount} of workspace ${id} is ${sum.workspaces[id]} instead of ${workspaces[id]}`;
    }
  }
  return null;
}
