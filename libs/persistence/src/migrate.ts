import { StartupError } from '#errors';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { advisoryLocks } from './locks.js';
import { SqlMigration } from './sql-migration.js';

/** Brings the schema up to date; returns the names of the migrations that ran. Safe to run from many places at once. */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    // TypeORM itself takes no lock: two migrators on an empty database would collide.
    await runner.query(`SELECT pg_advisory_lock(${advisoryLocks.migration})`);
    await ranMigrations(dataSource, runner);
    // On the session that holds the lock: who loses it migrates no further, and a pool of one connection is enough.
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'each';
    const ran = await executor.executePendingMigrations();
    return ran.map((migration) => migration.name);
  } finally {
    await runner.query(`SELECT pg_advisory_unlock(${advisoryLocks.migration})`).catch(() => {});
    await runner.release();
  }
}

/** True when no migration is pending. An app refuses to start otherwise. It only reads: TypeORM's own look would make a table. */
export async function schemaIsCurrent(dataSource: DataSource): Promise<boolean> {
  const ran = await ranMigrations(dataSource);
  return dataSource.migrations.every(({ name }) => name !== undefined && ran.has(name));
}

/**
 * The names of those that the database has had. TypeORM knows a migration by its name alone: it would call a database
 * current that other statements have made.
 */
async function ranMigrations(dataSource: DataSource, runner?: QueryRunner): Promise<Set<string>> {
  const query = <Row>(text: string) => dataSource.query<Row[]>(text, [], runner);
  const [tables] = await query<{ migrations: boolean; metadata: boolean }>(
    `SELECT to_regclass('migrations') IS NOT NULL AS migrations, to_regclass('typeorm_metadata') IS NOT NULL AS metadata`,
  );
  if (!tables?.migrations) return new Set();
  const ran = await query<{ name: string }>('SELECT name FROM migrations');
  const noted = tables.metadata
    ? await query<{ name: string; digest: string }>(
        `SELECT name, value AS digest FROM typeorm_metadata WHERE type = 'MIGRATION'`,
      )
    : [];
  const names = new Set(ran.map(({ name }) => name));
  const digests = new Map(noted.map(({ name, digest }) => [name, digest]));
  for (const migration of dataSource.migrations) {
    if (!(migration instanceof SqlMigration) || !names.has(migration.name)) continue;
    if (digests.get(migration.name) !== migration.digest)
      throw new StartupError(
        `The database was made by another version: its ${migration.name} had other statements. Run that version, or begin with an empty database.`,
      );
  }
  return names;
}
