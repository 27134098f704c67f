import type { Database } from '../database.js';
import type { Query } from '../pools.js';
import { type Books, readBooks } from './books.js';
import { carriedColumns, quoted } from './columns.js';
import { type CarriedTable, carriedTables, formerColumns, refilledTables } from './tables.js';

/** Maximum number of rows in memory at once. */
const pageRows = 1000;

/**
 * Values are exported in Postgres' text form, which is exact under these settings, whatever the server's
 * defaults.
 */
const exactText = `SELECT set_config('TimeZone', 'UTC', true), set_config('DateStyle', 'ISO', true),
  set_config('IntervalStyle', 'postgres', true), set_config('bytea_output', 'hex', true),
  set_config('extra_float_digits', '3', true), set_config('idle_in_transaction_session_timeout', '0', true)`;

interface Carried {
  /** The current name of the column. */
  column: string;
  /** The SQL expression of its value in this database. */
  value: string;
}

/** A consistent snapshot of a database: the rows that are carried over, and the tables that are left behind. */
export class DatabaseSnapshot {
  private constructor(
    private readonly sql: Query,
    private readonly carried: ReadonlyMap<CarriedTable, readonly Carried[]>,
  ) {}

  /**
   * Calls `use` with a snapshot of a database made by any version of this program. It reads the columns that
   * exist and does not compare migrations.
   */
  static read<Result>(
    database: Database,
    use: (snapshot: DatabaseSnapshot) => Promise<Result>,
  ): Promise<Result> {
    return database.registry.snapshot(async (sql) => {
      await sql(exactText);
      const columns = await carriedColumns(sql);
      if (!columns.has('workspace'))
        throw new Error('The database has no table "workspace", so it was not made by this program.');
      const carried = new Map<CarriedTable, Carried[]>();
      for (const [table, its] of columns) carried.set(table, carriedOf(table, its));
      return use(new DatabaseSnapshot(sql, carried));
    });
  }

  /** The columns to carry over by table, in the order in which the tables can be filled. */
  get tables(): ReadonlyMap<CarriedTable, readonly string[]> {
    return new Map([...this.carried].map(([table, columns]) => [table, columns.map(({ column }) => column)]));
  }

  /** The server's version, and the migrations that ran. */
  async origin(): Promise<{ server: string; migrations: string[] }> {
    const [found] = await this.sql<{ server: string; migrated: boolean }>(
      `SELECT current_setting('server_version') AS server, to_regclass('migrations') IS NOT NULL AS migrated`,
    );
    const ran = found?.migrated
      ? await this.sql<{ name: string }>('SELECT name FROM migrations ORDER BY id')
      : [];
    return { server: found?.server ?? '', migrations: ran.map(({ name }) => name) };
  }

  /** Runs without an outcome. */
  async liveRuns(): Promise<number> {
    const [table] = await this.sql(`SELECT WHERE to_regclass('run') IS NOT NULL`);
    if (!table) return 0;
    const [row] = await this.sql<{ live: number }>(
      'SELECT count(*)::float AS live FROM run WHERE outcome IS NULL',
    );
    return row?.live ?? 0;
  }

  /** The tables that have rows and are not carried over. */
  async leftBehind(): Promise<{ table: string; rows: number }[]> {
    const tables = await this.sql<{ name: string }>(
      `SELECT relname::text AS name FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
          AND relname <> ALL ($1::text[]) ORDER BY 1`,
      [[...carriedTables, ...refilledTables]],
    );
    const left: { table: string; rows: number }[] = [];
    for (const { name } of tables) {
      const [counted] = await this.sql<{ rows: number }>(
        `SELECT count(*)::float AS rows FROM ${quoted(name)}`,
      );
      if (counted && counted.rows > 0) left.push({ table: name, rows: counted.rows });
    }
    return left;
  }

  /** Yields all rows of a table in pages. Each row is a JSON object of strings and nulls. */
  async *rows(table: CarriedTable): AsyncGenerator<string[]> {
    const columns = (this.carried.get(table) ?? []).map(
      ({ column, value }) => `(${value})::text AS ${quoted(column)}`,
    );
    await this.sql(
      `DECLARE carried NO SCROLL CURSOR FOR
        SELECT row_to_json(texts)::text AS row FROM (SELECT ${columns.join(', ')} FROM ${table}) AS texts`,
    );
    for (;;) {
      const page = await this.sql<{ row: string }>(`FETCH ${pageRows} FROM carried`);
      if (page.length > 0) yield page.map(({ row }) => row);
      if (page.length < pageRows) break;
    }
    await this.sql('CLOSE carried');
  }

  async books(): Promise<Books> {
    return readBooks(this.sql, this.tables);
  }
}

/** The columns to read of a table. Columns of earlier versions get their current names. */
function carriedOf(table: CarriedTable, its: readonly { name: string }[]): Carried[] {
  const columns = its.map(({ name }) => name);
  const former = formerColumns.filter(
    (each) => each.table === table && columns.includes(each.from) && !columns.includes(each.column),
  );
  const renamed = new Set(former.filter(({ as }) => as === undefined).map(({ from }) => from));
  return [
    ...columns.filter((column) => !renamed.has(column)).map((column) => ({ column, value: quoted(column) })),
    ...former.map(({ column, from, as }) => ({ column, value: as ?? quoted(from) })),
  ];
}
