import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { GuardedServer } from './guard.js';
import { lastLines } from './server-log.js';
import { StartFailure } from './start-failure.js';

interface Place {
  host: string;
  port: number;
  user: string;
  password: string;
}

/** Recovery after a kill may take a while; a healthy start takes a fraction of a second. */
const readyWithinMs = 60_000;

/** Waits until the server takes connections, and makes the database when it is missing. */
export async function prepareDatabase(
  place: Place,
  database: string,
  server: GuardedServer,
  logPath: string,
): Promise<void> {
  const client = await connectWhenReady(place, server, logPath);
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`);
  } finally {
    await client.end();
  }
}

async function connectWhenReady(place: Place, server: GuardedServer, logPath: string): Promise<Client> {
  const lastMs = Date.now() + readyWithinMs;
  let last: unknown;
  while (Date.now() < lastMs) {
    if (server.end) {
      throw new StartFailure(`Postgres ended while it started: ${lastLines(logPath, 3)} (log: ${logPath})`);
    }
    const client = new Client({ ...place, database: 'postgres', connectionTimeoutMillis: 5_000 });
    // A connection that breaks while idle would otherwise be an uncaught exception.
    client.on('error', () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      last = error;
      if ((error as { code?: string }).code === '28P01') {
        throw new StartFailure('The kept password does not open the kept Postgres data: remove both', {
          cause: error,
        });
      }
      await pause(20);
    }
  }
  throw new StartFailure(`Postgres takes no connections: ${String(last)} (log: ${logPath})`);
}
