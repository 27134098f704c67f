import { migrate } from '#persistence';
import { type TestDatabase, withClockAt } from './database.js';
import { operatorDatabase } from './long-timeouts.js';
import { startPostgres, type TestServer } from './servers.js';

/** A separate Postgres with a migrated database; dropping that database stops the server. */
export async function startDatabaseServer(
  options: Parameters<typeof startPostgres>[0] = {},
): Promise<{ database: TestDatabase; server: TestServer }> {
  const server = await startPostgres(options);
  return { database: await migratedDatabase(server.url, () => server.stop()), server };
}

/** Migrates the database of a URL; `drop` ends its server or database. */
export async function migratedDatabase(url: string, drop: () => Promise<void>): Promise<TestDatabase> {
  const store = operatorDatabase(url);
  try {
    await migrate(await store.dataSource());
  } finally {
    await store.close();
  }
  return { url, name: new URL(url).pathname.slice(1), at: (offset) => withClockAt(url, offset), drop };
}
