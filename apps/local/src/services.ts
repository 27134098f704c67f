import path from 'node:path';
import type { Guard, GuardedServer } from './embedded/guard.js';
import { startPostgres } from './embedded/postgres.js';
import { findRedisServer, startRedis } from './embedded/redis.js';
import type { KeptPorts } from './kept-ports.js';
import type { LocalFolder } from './local-folder.js';
import type { Secrets } from './secrets.js';
import type { LocalSettings } from './settings.js';

/** What a service of the installation needs to start. */
export interface Ground {
  guard: Guard;
  folder: LocalFolder;
  secrets: Secrets;
  ports: KeptPorts;
  signal: AbortSignal;
}

export interface Service {
  /** Where the apps find it; null: they do without. */
  url: string | null;
  /** One line for the person at the terminal. */
  told: string;
  /** Absent when somebody else runs it. */
  server?: { name: string; logPath: string } & GuardedServer;
}

export async function provideDatabase(
  settings: LocalSettings,
  ground: Ground,
): Promise<Service & { url: string }> {
  if (settings.DATABASE_URL !== undefined) {
    return { url: settings.DATABASE_URL, told: `as DATABASE_URL says, ${placeOf(settings.DATABASE_URL)}` };
  }
  const { guard, folder, secrets, ports, signal } = ground;
  const logPath = path.join(folder.logs, 'postgres.log');
  const former = ports.before('postgres');
  const { url, port, server } = await startPostgres({
    guard,
    folder: folder.postgres,
    password: secrets.postgres,
    logPath,
    signal,
    ...(former !== undefined && { port: former }),
  });
  ports.keep('postgres', port);
  return { url, told: `embedded, 127.0.0.1:${port}`, server: named(server, 'postgres', logPath) };
}

export async function provideTransport(
  settings: LocalSettings,
  searchPath: string,
  ground: Ground,
): Promise<Service> {
  if (settings.REDIS_URL !== undefined) {
    return { url: settings.REDIS_URL, told: `Redis as REDIS_URL says, ${placeOf(settings.REDIS_URL)}` };
  }
  const command = findRedisServer(searchPath);
  if (command === undefined) {
    return { url: null, told: 'Postgres (no redis-server or valkey-server on the PATH; Redis is faster)' };
  }
  const { guard, folder, secrets, ports } = ground;
  const logPath = path.join(folder.logs, 'redis.log');
  const former = ports.before('redis');
  const { url, port, server } = await startRedis({
    guard,
    command,
    folder: folder.redis,
    password: secrets.redis,
    logPath,
    ...(former !== undefined && { port: former }),
  });
  ports.keep('redis', port);
  return { url, told: `Redis, ${command} on 127.0.0.1:${port}`, server: named(server, 'redis', logPath) };
}

/** Keeps the getter of `end` alive, which a spread would freeze. */
function named(server: GuardedServer, name: string, logPath: string) {
  return Object.assign(Object.create(server) as GuardedServer, { name, logPath });
}

/** An address without its password. */
function placeOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'an address of several hosts';
}
