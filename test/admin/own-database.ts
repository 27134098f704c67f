import type { Database } from '#persistence';
import { afterAll } from '@jest/globals';
import { createDatabase, failOnLeftovers } from '../harness/index.js';
import { harnessDatabase } from '../harness/long-timeouts.js';

/** A database for one spec file, and the environment in which commands use it. Whatever is left open fails the file. */
export async function ownDatabase(): Promise<{ env: { DATABASE_URL: string }; database: Database }> {
  const { url, drop } = await createDatabase();
  const database = harnessDatabase(url);
  afterAll(async () => {
    await database.close();
    await drop();
  });
  failOnLeftovers();
  return { env: { DATABASE_URL: url }, database };
}
