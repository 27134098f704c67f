import type { Metrics } from '#observability';
import { settlesWithin } from './bounded.js';
import type { Log, Transport } from './port.js';
import { PostgresTransport } from './postgres-transport.js';
import { RedisTransport } from './redis-transport.js';
import type { QueueSettings } from './settings.js';

/**
 * Redis when `REDIS_URL` is set, else the database. A server that is away does not stop the start: the
 * transport recovers when it comes. Throws when neither URL is given.
 */
export async function createTransport(
  settings: QueueSettings,
  log: Log,
  metrics?: Metrics,
): Promise<Transport> {
  if (settings.REDIS_URL !== undefined) {
    log.info({ transport: 'redis' }, 'Redis carries run ids and wake-ups');
    return new RedisTransport(settings, settings.REDIS_URL, log, metrics);
  }
  const url = settings.DATABASE_DIRECT_URL ?? settings.DATABASE_URL;
  if (url === undefined)
    throw new Error('Set REDIS_URL or DATABASE_URL: something has to carry the run ids.');
  log.info({ transport: 'postgres' }, 'The database carries run ids and wake-ups');
  const transport = new PostgresTransport(settings, url, log, metrics);
  // Spares the first deliveries of a normal start the detour over the sweep.
  await settlesWithin(transport.ready(), settings.QUEUE_COMMAND_TIMEOUT_MS);
  return transport;
}
