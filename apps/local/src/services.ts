import { findRedisServer, startRedis } from './servers/redis.js';
import { startPostgres } from './servers/postgres.js';
import type { ServerProcess } from './servers/server-process.js';
import type { Installation } from './installation.js';
import type { LocalSettings } from './settings.js';
import { StartFailure } from './start-failure.js';

interface Service<Url> {
  url: Url;
  /** One line for the terminal. */
  summary: string;
  /** Absent if the server was not started by this installation. */
  server?: ServerProcess;
}

export async function startDatabase(installation: Installation): Promise<Service<string>> {
  const { settings, records, folder, secrets, ports } = installation;
  if (settings.DATABASE_URL !== undefined) {
    const summary = `from DATABASE_URL, ${hostOf(settings.DATABASE_URL)}`;
    return { url: settings.DATABASE_URL, summary };
  }
  const { url, server } = await startPostgres({
    records,
    folder: folder.postgres,
    password: secrets.postgres,
    logPath: folder.logOf('postgres'),
    port: ports.postgres,
  });
  return { url, summary: `embedded, 127.0.0.1:${ports.postgres}`, server };
}

/** Starts or finds Redis. The URL is null if Postgres is the transport. */
export async function startTransport(installation: Installation): Promise<Service<string | null>> {
  const { settings, env, records, folder, secrets, ports } = installation;
  if (settings.REDIS_URL !== undefined) {
    const summary = `Redis from REDIS_URL, ${hostOf(settings.REDIS_URL)}`;
    return { url: settings.REDIS_URL, summary };
  }
  const command = findRedisServer(env['PATH'] ?? '');
  if (command === undefined) {
    return { url: null, summary: 'Postgres (no redis-server or valkey-server on the PATH; Redis is faster)' };
  }
  const { url, server } = await startRedis({
    records,
    command,
    folder: folder.redis,
    password: secrets.redis,
    logPath: folder.logOf('redis'),
    port: ports.redis,
  });
  return { url, summary: `Redis, ${command} on 127.0.0.1:${ports.redis}`, server };
}

/** The folder of this installation's files, or the configured bucket. */
export const filesSummary = ({ settings, folder }: Installation): string =>
  settings.S3_BUCKET === undefined ? folder.assets : `S3 bucket ${settings.S3_BUCKET}`;

/** Fails at once and names unreachable servers, for which the apps themselves would wait. */
export async function assertReachable(settings: LocalSettings): Promise<void> {
  const { DATABASE_URL, REDIS_URL, S3_BUCKET, S3_ENDPOINT } = settings;
  const s3 = S3_BUCKET === undefined ? {} : { S3_ENDPOINT };
  const servers = { DATABASE_URL, REDIS_URL, ...s3 };
  if (Object.values(servers).every((url) => url === undefined)) return;
  const { unreachable } = await import('#observability');
  const lines = await unreachable(servers);
  if (lines.length > 0) throw new StartFailure(lines.join(' '));
}

/** The host in a URL, without the password. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'several hosts';
}
