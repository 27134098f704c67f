import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { brokenBooks } from './books.js';
import { harnessDatabase } from './long-timeouts.js';
import { noteCreated, noteDropped } from './running.js';

export interface TestDatabase {
  url: string;
  name: string;
  /** The URL for sessions whose `router_now()` is shifted by an interval, such as `-25 hours`. */
  at(offset: string): string;
  /**
   * Fails if the books do not balance: counters and ledger must match the runs that exist, whatever the test did.
   */
  drop(): Promise<void>;
}

/** A migrated database for one test, copied from the template in a fraction of a second. */
export async function createDatabase(): Promise<TestDatabase> {
  const template = new URL(process.env['TEST_TEMPLATE_URL'] ?? '');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(`CREATE DATABASE ${name} TEMPLATE ${template.pathname.slice(1)}`);
  noteCreated(name);
  const url = new URL(template);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    name,
    at: (offset) => withClockAt(url.href, offset),
    drop: async () => {
      const broken = await bookErrors(url.href).catch((error: unknown) => [String(error)]);
      // FORCE, because a closing pool may hold its connection for a moment longer.
      await administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      noteDropped(name);
      if (broken.length > 0) throw new Error(`The books do not balance:\n  ${broken.join('\n  ')}`);
    },
  };
}

/**
 * Postgres splits `options` at spaces without a backslash, and not every client decodes a plus sign as a space.
 */
export function withClockAt(databaseUrl: string, offset: string): string {
  const option = `-c router.clock_offset=${offset.replaceAll(/[\\\s]/g, '\\$&')}`;
  return `${databaseUrl}?options=${encodeURIComponent(option)}`;
}

async function bookErrors(url: string): Promise<string[]> {
  const database = harnessDatabase(url);
  try {
    // A test that drops the tables has no books to check.
    const [there] = await database.reads.query<{ books: boolean }>(
      `SELECT to_regclass('workspace') IS NOT NULL AS books`,
    );
    return there?.books === true ? await brokenBooks(database) : [];
  } finally {
    await database.close();
  }
}

/** For what only one test file of the run may do at the same time. */
export const oneAtATime = (what: string, act: () => Promise<void>): Promise<void> =>
  administering(async (client) => {
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [what]);
    await act();
  });

const administer = (sql: string): Promise<unknown> => administering((client) => client.query(sql));

async function administering<T>(act: (client: Client) => Promise<T>): Promise<T> {
  const url = new URL(process.env['TEST_TEMPLATE_URL'] ?? '');
  url.pathname = '/postgres';
  const client = new Client({ connectionString: url.href, connectionTimeoutMillis: 20_000 });
  await client.connect();
  try {
    return await act(client);
  } finally {
    await client.end();
  }
}
