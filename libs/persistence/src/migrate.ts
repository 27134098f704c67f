import { StartupError } from '#errors';
import type { DataSource } from 'typeorm';
import { advisoryLocks } from './locks.js';
import { SqlMigration } from './sql-migration.js';

/** Brings the schema up to date; returns the names of the migrations that ran. Safe to run from many places at once. */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    // TypeORM itself takes no lock: two migrators on an empty database would collide.
    await runner.query(`SELECT pg_advisory_lock(${advisoryLocks.migration})`);
    await refuseOtherStatements(dataSource);
    const ran = await dataSource.runMigrations();
    return ran.map((migration) => migration.name);
  } finally {
    await runner.query(`SELECT pg_advisory_unlock(${advisoryLocks.migration})`).catch(() => {});
    await runner.release();
  }
}

/** True when no migration is pending. An app refuses to start otherwise. */
export async function schemaIsCurrent(dataSource: DataSource): Promise<boolean> {
  await refuseOtherStatements(dataSource);
  return !(await dataSource.showMigrations());
}

/** TypeORM knows a migration by its name alone: it would call a database current that other statements have made. */
async function refuseOtherStatements(dataSource: DataSource): Promise<void> {
  const [found] = await dataSource.query<{ migrated: boolean }[]>(
    `SELECT to_regclass('migrations') IS NOT NULL AND to_regclass('typeorm_metadata') IS NOT NULL AS migrated`,
  );
  if (!found?.migrated) return;
  const ran = await dataSource.query<{ name: string; digest: string | null }[]>(
    `SELECT migrations.name, value AS digest FROM migrations
      LEFT JOIN typeorm_metadata ON type = 'MIGRATION' AND typeorm_metadata.name = migrations.name`,
  );
  const digests = new Map(ran.map(({ name, digest }) => [name, digest]));
  for (const migration of dataSource.migrations) {
    if (!(migration instanceof SqlMigration) || !digests.has(migration.name)) continue;
    if (digests.get(migration.name) !== migration.digest)
      throw new StartupError(
        `The database was made by another version: its ${migration.name} had other statements. Run that version, or begin with an empty database.`,
      );
  }
}
