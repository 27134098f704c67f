import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Guard, GuardedServer } from './guard.js';
import { freePort } from './ports.js';
import { endOrphan } from './processes.js';
import { waitForPong } from './redis-ready.js';
import { lastLines } from './server-log.js';

interface RedisOptions {
  guard: Guard;
  /** The executable, as `findRedisServer` found it. */
  command: string;
  /** Holds the configuration and the append-only file. */
  folder: string;
  logPath: string;
  /** Taken when it is free, else any other. */
  port?: number;
  password?: string;
  /** False keeps everything in memory. */
  durable?: boolean;
}

interface Redis {
  url: string;
  port: number;
  server: GuardedServer;
}

/** The first Redis-like server on a PATH; undefined when there is none. */
export function findRedisServer(searchPath: string): string | undefined {
  const folders = searchPath.split(path.delimiter).filter((folder) => folder !== '');
  return ['redis-server', 'valkey-server']
    .flatMap((name) => folders.map((folder) => path.join(folder, name)))
    .find(isExecutable);
}

/** Starts it on 127.0.0.1 for this folder alone, and answers when it takes commands. */
export async function startRedis(options: RedisOptions): Promise<Redis> {
  mkdirSync(options.folder, { recursive: true, mode: 0o700 });
  await endFormerServer(options.folder);
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort(options.port);
    const server = await options.guard.run(serverSpec(options, port));
    try {
      await waitForPong(port, options.password, server, options.logPath);
    } catch (error) {
      await server.stop();
      // Between the look for a free port and the start somebody else may have taken it.
      if (attempt < 3 && lastLines(options.logPath, 5).includes('Address already in use')) continue;
      throw error;
    }
    const login = options.password === undefined ? '' : `:${encodeURIComponent(options.password)}@`;
    return { url: `redis://${login}127.0.0.1:${port}`, port, server };
  }
}

function serverSpec(options: RedisOptions, port: number) {
  const configuration = path.join(options.folder, 'redis.conf');
  const lines = [
    `bind 127.0.0.1`,
    `port ${port}`,
    `dir ${JSON.stringify(options.folder)}`,
    `pidfile ${JSON.stringify(pidFile(options.folder))}`,
    'daemonize no',
    'save ""',
    `appendonly ${options.durable === false ? 'no' : 'yes'}`,
    'appendfsync everysec',
    // Evicted jobs would be lost deliveries.
    'maxmemory-policy noeviction',
    ...(options.password === undefined ? [] : [`requirepass ${JSON.stringify(options.password)}`]),
  ];
  // In a file, because other users can read the arguments of a process.
  writeFileSync(configuration, `${lines.join('\n')}\n`, { mode: 0o600 });
  return {
    name: 'Redis',
    command: options.command,
    args: [configuration],
    env: { LC_ALL: 'C', TZ: 'UTC' },
    logPath: options.logPath,
    stopSignal: 'SIGTERM' as const,
    graceMs: 5_000,
  };
}

const pidFile = (folder: string): string => path.join(folder, 'redis.pid');

/** Two servers on one append-only file would ruin it. */
async function endFormerServer(folder: string): Promise<void> {
  if (!existsSync(pidFile(folder))) return;
  const pid = Number(readFileSync(pidFile(folder), 'utf8'));
  if (!Number.isInteger(pid) || pid <= 1) return;
  const looksRight = (description: string) =>
    /redis|valkey/.test(description) && description.includes(folder);
  await endOrphan(pid, looksRight, 'SIGTERM');
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
