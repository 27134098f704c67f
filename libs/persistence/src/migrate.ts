import { StartupError } from '#errors';
import { setTimeout as pause } from 'node:timers/promises';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { functions, functionsDigest, functionsRevision } from './functions.js';
import { advisoryLocks } from './locks.js';
import { type MigrationObserver, MigrationProgress, rowsOf } from './migration-progress.js';
import { schemaFirst, SqlMigration } from './migrations.js';
import { isLockError } from './sql-errors.js';

const maxAttempts = 60;
const pauseMs = 1000;
/** Another migrator may build an index of a large table. */
const maxWaitMs = 3_600_000;
const lockPollMs = 200;

/** The changes made by `migrate`. */
export interface Migrated {
  /** The names of the migrations that ran. */
  migrations: string[];
  /** Whether the functions were replaced. */
  functions: boolean;
}

/** Brings the schema up to date. Safe to run concurrently, and from a release that is older than the schema. */
export async function migrate(dataSource: DataSource, observer?: MigrationObserver): Promise<Migrated> {
  const runner = dataSource.createQueryRunner();
  runner.data = { progress: observer && new MigrationProgress(observer) };
  try {
    await takeMigrationLock(runner);
    const before = await schemaState(dataSource, runner);
    await untilLocked(() => runPending(dataSource, runner));
    const { migrations } = await schemaState(dataSource, runner);
    return {
      migrations: [...migrations].filter((name) => !before.migrations.has(name)),
      functions: await untilLocked(() => replaceFunctions(before, runner)),
    };
  } finally {
    await runner.query(`SELECT pg_advisory_unlock(${advisoryLocks.migration})`).catch(() => {});
    await runner.release();
  }
}

/** A migration that is missing. */
export interface PlannedMigration {
  name: string;
  /** Whether it is one transaction. Otherwise it builds indexes concurrently. */
  transaction: boolean;
  /** The tables that it changes or creates, and their estimated numbers of rows. */
  tables: { name: string; rows: number }[];
}

/** Returns the work of `migrate` and changes nothing. */
export async function planMigration(
  dataSource: DataSource,
): Promise<{ migrations: PlannedMigration[]; functions: boolean }> {
  const state = await schemaState(dataSource);
  const missing = dataSource.migrations.filter(
    (each): each is SqlMigration => each instanceof SqlMigration && !state.migrations.has(each.name),
  );
  const query = async <Row extends object>(text: string, values?: unknown[]) =>
    dataSource.query<Row[]>(text, values);
  const rows = await rowsOf([...new Set(missing.flatMap(({ tables }) => tables))], { query });
  return {
    migrations: missing.map(({ name, transaction, tables }) => ({
      name,
      transaction,
      tables: tables.map((table) => ({ name: table, rows: rows.get(table) ?? 0 })),
    })),
    functions: isOlder(state),
  };
}

/**
 * Takes the migration lock, because TypeORM takes none and two migrators on an empty database would collide. It
 * polls for the lock: a waiting statement would hold a snapshot, and CREATE INDEX CONCURRENTLY of the other
 * migrator would wait for that snapshot, a deadlock.
 */
async function takeMigrationLock(runner: QueryRunner): Promise<void> {
  for (
    const startedMs = performance.now();
    performance.now() - startedMs < maxWaitMs;
    await pause(lockPollMs)
  ) {
    const text = `SELECT pg_try_advisory_lock(${advisoryLocks.migration}) AS locked`;
    const [answer] = (await runner.query(text)) as { locked: boolean }[];
    if (answer?.locked) return;
  }
  throw new StartupError('Another "admin migrate" has been running for an hour. See pg_stat_activity.');
}

/**
 * Whether no migration is pending and the functions are those of this program or newer. An app refuses to start
 * otherwise. It only reads, unlike TypeORM's own check, which creates a table.
 */
export async function schemaIsCurrent(dataSource: DataSource): Promise<boolean> {
  const { migrations, revision } = await schemaState(dataSource);
  return (
    revision >= functionsRevision && dataSource.migrations.every(({ name = '' }) => migrations.has(name))
  );
}

/**
 * Repeats work that needs locks of tables until it gets them. It runs on the session that holds the migration lock,
 * so that a pool of one connection is enough and a migrator that loses that lock stops.
 */
async function untilLocked<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isLockError(error)) throw error;
      if (attempt === maxAttempts)
        throw new StartupError(
          'Transactions have kept tables locked for a minute. End them (see pg_stat_activity), then run "admin migrate" again.',
          { cause: error },
        );
      await pause(pauseMs);
    }
  }
}

async function runPending(dataSource: DataSource, runner: QueryRunner): Promise<void> {
  const executor = new MigrationExecutor(dataSource, runner);
  executor.transaction = 'each';
  await executor.executePendingMigrations();
}

/**
 * Replaces the functions in one transaction, which keeps no caller waiting. False if the database has these or newer ones.
 */
async function replaceFunctions(before: SchemaState, runner: QueryRunner): Promise<boolean> {
  if (!isOlder(before)) return false;
  await runner.manager.transaction(async (manager) => {
    await manager.query(schemaFirst);
    for (const statements of functions) await manager.query(statements);
    await manager.query(`DELETE FROM typeorm_metadata WHERE type = 'FUNCTIONS'`);
    await manager.query(`INSERT INTO typeorm_metadata (type, name, value) VALUES ('FUNCTIONS', $1, $2)`, [
      String(functionsRevision),
      functionsDigest,
    ]);
  });
  return true;
}

/** Whether the database has older functions than this program, or others of the same revision. */
const isOlder = ({ revision, functionsDigest: digest }: SchemaState): boolean =>
  revision < functionsRevision || (revision === functionsRevision && digest !== functionsDigest);

interface SchemaState {
  /** The names of the migrations that ran. */
  migrations: ReadonlySet<string>;
  /** The revision of the functions. 0 for those created by the first migration. */
  revision: number;
  functionsDigest: string | undefined;
}

/**
 * Compares the digests of the migrations that ran. TypeORM compares names only, so it would accept a database that
 * was made by other statements.
 */
async function schemaState(dataSource: DataSource, runner?: QueryRunner): Promise<SchemaState> {
  const query = <Row>(text: string) => dataSource.query<Row[]>(text, [], runner);
  const [tables] = await query<{ migrations: boolean; metadata: boolean }>(
    `SELECT to_regclass('migrations') IS NOT NULL AS migrations, to_regclass('typeorm_metadata') IS NOT NULL AS metadata`,
  );
  if (!tables?.migrations) return { migrations: new Set(), revision: 0, functionsDigest: undefined };
  const ran = await query<{ name: string }>('SELECT name FROM migrations ORDER BY id');
  const noted = tables.metadata
    ? await query<{ type: string; name: string; value: string }>(
        `SELECT type, name, value FROM typeorm_metadata WHERE type IN ('MIGRATION', 'FUNCTIONS')`,
      )
    : [];
  const migrations = new Set(ran.map(({ name }) => name));
  for (const migration of dataSource.migrations) {
    if (!(migration instanceof SqlMigration) || !migrations.has(migration.name)) continue;
    const digest = noted.find(({ type, name }) => type === 'MIGRATION' && name === migration.name)?.value;
    if (digest !== migration.digest)
      throw new StartupError(
        `The database was made by another version: its ${migration.name} had other statements. Run that version, or carry its data over to a new database with "admin export" and "admin import".`,
      );
  }
  const inPlace = noted.find(({ type }) => type === 'FUNCTIONS');
  return { migrations, revision: Number(inPlace?.name ?? 0), functionsDigest: inPlace?.value };
}
