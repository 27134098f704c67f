import { Client } from 'pg';
import { Redis } from 'ioredis';
import type { TransportKind } from '../harness/index.js';

/** Deletes everything that the queue stores on a server. */
export const wiped = (kind: TransportKind, url: string): Promise<void> =>
  kind === 'redis' ? flush(url) : deleteRows(url);

const flush = async (url: string): Promise<void> => {
  await withRedis(url, (client) => client.flushall());
};

async function deleteRows(url: string): Promise<void> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 20_000,
    query_timeout: 20_000,
  });
  await client.connect();
  try {
    await client.query('DELETE FROM outbox');
  } finally {
    await client.end();
  }
}

export async function withRedis<T>(url: string, ask: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { retryStrategy: null, commandTimeout: 20_000 });
  client.on('error', () => {});
  return ask(client).finally(() => client.disconnect());
}
