import type { Client } from 'pg';

/** Statements that hold their locks only briefly, or take locks that do not block callers. */
const withoutBlocking =
  /^(--.*\n)*(CREATE TABLE IF NOT EXISTS|CREATE( UNIQUE)? INDEX CONCURRENTLY|DROP INDEX CONCURRENTLY IF EXISTS|ALTER TABLE \w+ VALIDATE CONSTRAINT) /;

/**
 * Describes the work that a migration does while it locks an existing table. If that work grows with the table,
 * callers wait for all of it.
 */
export async function migrationCosts(
  client: Client,
  migration: { transaction: boolean; statements: readonly string[] },
): Promise<string[]> {
  if (!migration.transaction)
    return migration.statements
      .filter((statement) => !withoutBlocking.test(statement.trim()))
      .map((statement) => `runs without a transaction: ${statement.trim()}`);
  const before = await tables(client);
  await client.query('BEGIN');
  try {
    for (const statement of migration.statements) await client.query(statement);
    const after = await tables(client);
    return [...before].flatMap(([name, was]) => {
      const is = after.get(name);
      if (!is) return [];
      return [
        ...(is.file === was.file ? [] : [`rewrites ${name}`]),
        ...(is.scans > 0 && is.file === was.file ? [`scans ${name}`] : []),
        ...(is.written > 0 ? [`writes rows of ${name}`] : []),
        ...is.indexes.filter((index) => !was.indexes.includes(index)).map((index) => `builds ${index}`),
      ];
    });
  } finally {
    await client.query('ROLLBACK');
  }
}

interface TableState {
  /** The file of its rows, which a rewrite replaces. */
  file: number;
  /** Scans in the open transaction. */
  scans: number;
  written: number;
  indexes: string[];
}

async function tables(client: Client): Promise<Map<string, TableState>> {
  const { rows } = await client.query<TableState & { name: string }>(
    `SELECT pg_class.relname AS name, relfilenode::integer AS file, coalesce(seq_scan, 0)::integer AS scans,
       coalesce(n_tup_ins + n_tup_upd + n_tup_del, 0)::integer AS written,
       ARRAY(SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = pg_class.oid) AS indexes
     FROM pg_class LEFT JOIN pg_stat_xact_user_tables ON relid = pg_class.oid
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
       AND pg_class.relname NOT IN ('migrations', 'typeorm_metadata')`,
  );
  return new Map(rows.map(({ name, ...state }) => [name, state]));
}
