import { backoff } from '#observability';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { QueueSettings } from './settings.js';

export type RedisClient = Redis | Cluster;

/** For callers that must not wait: it refuses at once what it cannot send, and gives up after the timeout. */
export function producerConnection(settings: QueueSettings, url: string): RedisClient {
  return connect(url, {
    commandTimeout: settings.QUEUE_COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    // A peer that vanished without a word would otherwise hold the socket for a quarter of an hour.
    socketTimeout: Math.max(5_000, 2 * settings.QUEUE_COMMAND_TIMEOUT_MS),
  });
}

/** For workers: commands wait for the server; a socket that is silent for a lock's duration is replaced. */
export function workerConnection(settings: QueueSettings, url: string, name: string): RedisClient {
  return connect(url, {
    connectionName: name,
    maxRetriesPerRequest: null,
    // Longer than the longest blocking command: BullMQ's takes up to 10 s.
    socketTimeout: Math.max(12_000, settings.QUEUE_LOCK_MS),
  });
}

/** A second disconnect of an ended client would start a timer that holds the process. */
export function disconnect(client: RedisClient): void {
  if (client.status !== 'end') client.disconnect();
}

export function isReady(client: RedisClient): boolean {
  return client.status === 'ready';
}

/** Milliseconds before reconnection attempt `attempt` (from 1). */
export const reconnectDelayMs = (attempt: number): number =>
  backoff(attempt, { baseMs: 50, maxMs: 2_000, jitter: 0 });

function connect(urls: string, options: RedisOptions): RedisClient {
  const [first = '', ...others] = urls.split(',').map((url) => url.trim());
  const common: RedisOptions = {
    connectTimeout: 2_000,
    disableClientInfo: true,
    // After a failover the old primary is a replica: connecting again finds the new one.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    ...options,
  };
  const sentinels = sentinelsOf(urls);
  if (sentinels) return new Redis({ ...common, ...sentinels, retryStrategy: reconnectDelayMs });
  if (others.length === 0) return new Redis(first, { ...common, retryStrategy: reconnectDelayMs });
  const { enableOfflineQueue = true, ...redisOptions } = common;
  return new Cluster([first, ...others], {
    enableOfflineQueue,
    clusterRetryStrategy: reconnectDelayMs,
    redisOptions: { ...redisOptions, ...credentials(first) },
  });
}

/** The addresses of `redis+sentinel://user:password@host:port,host:port/name`, which no URL parser takes. */
function sentinelsOf(url: string): RedisOptions | undefined {
  const [, user = '', hosts, name = ''] = /^redis\+sentinel:\/\/(?:([^@]*)@)?([^/]+)\/(.+)$/.exec(url) ?? [];
  if (hosts === undefined) return undefined;
  const sentinels = hosts.split(',').map((address) => {
    const { hostname, port } = new URL(`redis://${address}`);
    return { host: hostname, port: Number(port || 26_379) };
  });
  return {
    sentinels,
    name,
    ...credentials(`redis://${user === '' ? '' : `${user}@`}host`),
    sentinelRetryStrategy: reconnectDelayMs,
    // A failover is announced: the client need not wait until the old primary's silence shows.
    failoverDetector: true,
  };
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
