import type { DataSource } from 'typeorm';
import { advisoryLocks } from './locks.js';

/** Brings the schema up to date; returns the names of the migrations that ran. Safe to run from many places at once. */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    // TypeORM itself takes no lock: two migrators on an empty database would collide.
    await runner.query(`SELECT pg_advisory_lock(${advisoryLocks.migration})`);
    const ran = await dataSource.runMigrations();
    return ran.map((migration) => migration.name);
  } finally {
    await runner.query(`SELECT pg_advisory_unlock(${advisoryLocks.migration})`).catch(() => {});
    await runner.release();
  }
}

/** True when no migration is pending. An app refuses to start otherwise. */
export const schemaIsCurrent = async (dataSource: DataSource): Promise<boolean> =>
  !(await dataSource.showMigrations());
