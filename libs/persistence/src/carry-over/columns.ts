import type { Query } from '../pools.js';
import { type CarriedTable, carriedTables, liveCounters } from './tables.js';

interface Column {
  name: string;
  /** As written in a cast. */
  type: string;
  isIdentity: boolean;
}

/** Columns of the carried tables that exist in the database. */
export type CarriedColumns = ReadonlyMap<CarriedTable, readonly Column[]>;

/** Leaves out computed values: generated columns, and counters of live runs. */
export async function carriedColumns(sql: Query): Promise<CarriedColumns> {
  const rows = await sql<Column & { table: CarriedTable }>(
    `SELECT name AS "table", attname::text AS name, format_type(atttypid, atttypmod) AS type, attidentity <> '' AS "isIdentity"
      FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, place)
      JOIN pg_attribute ON attrelid = to_regclass(quote_ident(name))
      WHERE attnum > 0 AND NOT attisdropped AND attgenerated = ''
      ORDER BY place, attnum`,
    [carriedTables],
  );
  const columns = new Map<CarriedTable, Column[]>();
  for (const { table, ...column } of rows) {
    if (liveCounters[table]?.includes(column.name)) continue;
    columns.set(table, [...(columns.get(table) ?? []), column]);
  }
  return columns;
}

/** Quotes a name that came from a database or a file. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
