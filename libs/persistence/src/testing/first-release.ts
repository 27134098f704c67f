import { readSettings } from '#schemas';
import { DataSource, MigrationExecutor } from 'typeorm';
import { dataSourceOptions } from '../data-source.js';
import { readMigrations } from '../migrations.js';
import { databaseSettings } from '../settings.js';

/** Lends a connection as `migrate` gets it, with migrations of the caller's choice. */
export async function withMigrations<T>(
  url: string,
  migrations: ReturnType<typeof readMigrations>,
  use: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const settings = readSettings(databaseSettings, { DATABASE_URL: url });
  const dataSource = new DataSource({ ...dataSourceOptions(settings), migrations });
  await dataSource.initialize();
  try {
    return await use(dataSource);
  } finally {
    await dataSource.destroy();
  }
}

/** Runs migrations without replacing functions. */
export const runMigrations = (url: string, migrations: ReturnType<typeof readMigrations>): Promise<void> =>
  withMigrations(url, migrations, async (dataSource) => {
    const executor = new MigrationExecutor(dataSource);
    executor.transaction = 'each';
    await executor.executePendingMigrations();
  });

/** The first release as its own `migrate` left it. */
export async function makeFirstRelease(url: string): Promise<void> {
  await withMigrations(url, [], (dataSource) =>
    dataSource.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public'),
  );
  await runMigrations(url, readMigrations().slice(0, 1));
}
