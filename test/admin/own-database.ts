import type { Database } from '#persistence';
import { afterAll } from '@jest/globals';
import { createDatabase, failOnLeftovers } from '../harness/index.js';
import { harnessDatabase } from '../harness/long-timeouts.js';

/** A database for one spec file, and the environment in which commands use it. Whatever is left open fails the file. */
export async function ownDatabase(): Promise<{ env: { DATABASE_URL: string }; database: Database }> {
  const created = await createDatabase();
  const database = harnessDatabase(created.url);
  afterAll(async () => {
    await database.close();
    await created.drop();
  });
  failOnLeftovers();
  return { env: { DATABASE_URL: created.url }, database };
}
