import type { Database, Transaction } from '../database.js';
import { recordAction } from '../operator-actions.js';
import { type Books, readBooks } from './books.js';
import type { Query } from '../pools.js';
import { type CarriedColumns, carriedColumns, quoted } from './columns.js';
import { type CarriedTable, carriedTables } from './tables.js';

/** One value for each column, in Postgres' text form. */
export type CarriedRow = Record<string, string | null>;

/** An empty database that is filled with the contents of another one, completely or not at all. */
export class NewDatabase {
  private constructor(
    private readonly transaction: Transaction,
    private readonly columns: CarriedColumns,
    /** Columns of each table that exist both in the file and in this database. */
    private readonly shared: ReadonlyMap<CarriedTable, readonly string[]>,
  ) {}

  /**
   * Calls `use` in one transaction, which is committed when `use` resolves. Other sessions cannot write to
   * these tables meanwhile. `given` lists the columns of the file by table.
   */
  static fill<Result>(
    database: Database,
    given: Readonly<Record<string, readonly string[]>>,
    use: (target: NewDatabase) => Promise<Result>,
  ): Promise<Result> {
    return database.transaction(async (transaction) => {
      const { query: sql } = transaction;
      await sql(`SELECT set_config('idle_in_transaction_session_timeout', '0', true)`);
      // A rotated key is newer than the keys made by it, so its row comes after theirs.
      await sql('SET CONSTRAINTS ALL DEFERRED');
      await sql(`LOCK TABLE ${carriedTables.join(', ')} IN SHARE ROW EXCLUSIVE MODE`);
      await refuseIfFilled(sql);
      const columns = await carriedColumns(sql);
      const shared = [...columns].flatMap(([table, its]) => {
        const names = its.map(({ name }) => name).filter((name) => given[table]?.includes(name));
        return names.length > 0 ? [[table, names] as const] : [];
      });
      return use(new NewDatabase(transaction, columns, new Map(shared)));
    });
  }

  /** The tables and columns (`table.column`) of the file that this database lacks. */
  unknown(given: Readonly<Record<string, readonly string[]>>): string[] {
    return Object.entries(given).flatMap(([table, columns]) => {
      const known = this.columns.get(table as CarriedTable)?.map(({ name }) => name);
      if (known === undefined) return [table];
      return columns.filter((column) => !known.includes(column)).map((column) => `${table}.${column}`);
    });
  }

  /** The tables and columns (`table.column`) that the file lacks. Such columns keep their defaults. */
  missing(given: Readonly<Record<string, readonly string[]>>): string[] {
    return [...this.columns].flatMap(([table, columns]) => {
      const there = given[table];
      if (there === undefined) return [table];
      return columns.filter(({ name }) => !there.includes(name)).map(({ name }) => `${table}.${name}`);
    });
  }

  /** Inserts rows into one table. Rows of an unknown table are skipped. */
  async insert(table: string, rows: readonly CarriedRow[]): Promise<void> {
    const names = this.shared.get(table as CarriedTable);
    if (names === undefined) return;
    const columns = (this.columns.get(table as CarriedTable) ?? []).filter(({ name }) =>
      names.includes(name),
    );
    await this.transaction.query(
      `INSERT INTO ${table} (${names.map(quoted).join(', ')}) OVERRIDING SYSTEM VALUE
        SELECT ${columns.map(({ name, type }) => `${quoted(name)}::${type}`).join(', ')}
        FROM json_to_recordset($1::json) AS texts (${names.map((name) => `${quoted(name)} text`).join(', ')})`,
      [JSON.stringify(rows)],
    );
  }

  /** Reads the figures of the inserted rows. */
  async books(): Promise<Books> {
    return readBooks(this.transaction.query, this.shared);
  }

  /** Advances the sequences past the inserted values, updates the planner's statistics and records the import. */
  async finish(actor: string, subject: string, details: object): Promise<void> {
    for (const [table, columns] of this.columns) {
      for (const { name } of columns.filter(({ isIdentity }) => isIdentity)) {
        await this.transaction.query(
          `SELECT setval(pg_get_serial_sequence('${table}', '${name}'), max(${quoted(name)}))
            FROM ${table} HAVING count(*) > 0`,
        );
      }
    }
    await this.transaction.query(`ANALYZE ${carriedTables.join(', ')}`);
    await recordAction(this.transaction.manager, { actor, action: 'database.import', subject, details });
  }
}

async function refuseIfFilled(sql: Query): Promise<void> {
  const counts = await sql<{ table: string; rows: string }>(
    carriedTables
      .map((table) => `SELECT '${table}' AS "table", count(*)::text AS rows FROM ${table}`)
      .join(' UNION ALL '),
  );
  const filled = counts.filter(({ rows }) => rows !== '0').map(({ table, rows }) => `${table} ${rows}`);
  if (filled.length > 0)
    throw new Error(
      `The database is not empty (rows: ${filled.join(', ')}). Import into a new one, after "migrate" and before an app, "npm start" or another command has used it.`,
    );
}
