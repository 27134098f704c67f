import type { Query } from '../pools.js';
import { type CarriedTable, carriedTables, liveCounters } from './tables.js';

interface Column {
  name: string;
  /** As a cast writes it. */
  type: string;
  isIdentity: boolean;
}

/** Columns of those carried tables that the database has. */
export type CarriedColumns = ReadonlyMap<CarriedTable, readonly Column[]>;

/** Leaves out what is computed: generated columns, and counters of live runs. */
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

/** Quotes a name that came out of a database or a file. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
