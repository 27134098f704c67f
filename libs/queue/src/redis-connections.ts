import { backoff } from '#observability';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { QueueSettings } from './settings.js';

export type RedisClient = Redis | Cluster;

/** For callers that must not wait: commands fail at once if they cannot be sent, or after the timeout. */
export function producerConnection(settings: QueueSettings, url: string): RedisClient {
  return connect(url, {
    commandTimeout: settings.QUEUE_COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    // Otherwise a peer that vanished without closing the connection would hold the socket for 15 minutes.
    socketTimeout: Math.max(5_000, 2 * settings.QUEUE_COMMAND_TIMEOUT_MS),
  });
}

/** For workers: commands wait for the server. A socket that is silent for a lock's duration is replaced. */
export function workerConnection(settings: QueueSettings, url: string, name: string): RedisClient {
  return connect(url, {
    connectionName: name,
    maxRetriesPerRequest: null,
    // Longer than any blocking command: BullMQ's takes up to 10 s.
    socketTimeout: Math.max(12_000, settings.QUEUE_LOCK_MS),
  });
}

/** Disconnects once: a second disconnect would start a timer that keeps the process alive. */
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
    // After a failover the old primary is a replica, and reconnecting finds the new primary.
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

/** Parses `redis+sentinel://user:password@host:port,host:port/name`, which URL parsers reject. */
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
    // Sentinels announce a failover, so that the client need not wait until the old primary times out.
    failoverDetector: true,
  };
}

/** The credentials of a URL. Nodes that the cluster reports are reached with those of the first URL. */
function credentials(url: string) {
  const { protocol, username, password } = new URL(url);
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  };
}
