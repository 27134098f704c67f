import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { reconnectDelayMs } from './backoff.js';
import type { QueueSettings } from './settings.js';

export type RedisClient = Redis | Cluster;

/** A client for callers that must not wait: it refuses at once what it cannot send, and gives up after the timeout. */
export function impatientClient(settings: QueueSettings, url: string): RedisClient {
  return client(url, {
    commandTimeout: settings.QUEUE_COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    // A peer that vanished without a word would otherwise hold the socket for a quarter of an hour.
    socketTimeout: Math.max(5_000, 2 * settings.QUEUE_COMMAND_TIMEOUT_MS),
  });
}

/** A client for workers: commands wait for the server; a socket that is silent for a lock's duration is replaced. */
export function patientClient(settings: QueueSettings, url: string): RedisClient {
  return client(url, {
    maxRetriesPerRequest: null,
    // Longer than the longest blocking command.
    socketTimeout: Math.max(10_000, settings.QUEUE_LOCK_MS),
  });
}

/** A second disconnect of an ended client would start a timer that holds the process. */
export function disconnect(client: RedisClient): void {
  if (client.status !== 'end') client.disconnect();
}

export function isReady(client: RedisClient): boolean {
  return client.status === 'ready';
}

function client(urls: string, options: RedisOptions): RedisClient {
  const [first = '', ...others] = urls.split(',').map((url) => url.trim());
  const common: RedisOptions = {
    connectTimeout: 2_000,
    disableClientInfo: true,
    // After a failover the old primary is a replica: connecting again finds the new one.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    ...options,
  };
  if (others.length === 0) return new Redis(first, { ...common, retryStrategy: reconnectDelayMs });
  const { enableOfflineQueue = true, ...redisOptions } = common;
  return new Cluster([first, ...others], {
    enableOfflineQueue,
    clusterRetryStrategy: reconnectDelayMs,
    redisOptions: { ...redisOptions, ...credentials(first) },
  });
}

/** Nodes that the cluster itself names are reached with the first URL's credentials. */
function credentials(url: string) {
  const { protocol, username, password } = new URL(url);
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  };
}
