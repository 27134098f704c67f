import type { Database } from './database.js';

/** Brings the schema up to date; returns the names of the migrations that ran. Safe to run from many places at once. */
export async function migrate(database: Database): Promise<string[]> {
  const dataSource = await database.openDataSource();
  const runner = dataSource.createQueryRunner();
  try {
    // TypeORM itself takes no lock: two migrators on an empty database would collide.
    await runner.query('SELECT pg_advisory_lock(727001)');
    const ran = await dataSource.runMigrations();
    return ran.map((migration) => migration.name);
  } finally {
    await runner.query('SELECT pg_advisory_unlock(727001)').catch(() => {});
    await runner.release();
    await dataSource.destroy();
  }
}

/** True when no migration is pending. An app refuses to start otherwise. */
export async function schemaIsCurrent(database: Database): Promise<boolean> {
  const dataSource = await database.openDataSource();
  try {
    return !(await dataSource.showMigrations());
  } finally {
    await dataSource.destroy();
  }
}
