import { migrate } from '#persistence';
import { type TestDatabase, withClockAt } from './database.js';
import { operatorDatabase } from './long-timeouts.js';
import { startPostgres, type TestServer } from './servers.js';

/** A Postgres of the caller's own with a migrated database; dropping that database ends the server. */
export async function startDatabaseServer(): Promise<{ database: TestDatabase; server: TestServer }> {
  const server = await startPostgres();
  const store = operatorDatabase(server.url);
  try {
    await migrate(await store.dataSource());
  } finally {
    await store.close();
  }
  const name = new URL(server.url).pathname.slice(1);
  const at = (offset: string) => withClockAt(server.url, offset);
  return { database: { url: server.url, name, at, drop: () => server.stop() }, server };
}
