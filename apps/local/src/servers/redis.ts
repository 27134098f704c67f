import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ProcessRecords } from '../processes.js';
import { startServer, type ServerProcess } from './server-process.js';

interface RedisOptions {
  records: ProcessRecords;
  /** The executable that `findRedisServer` returned. */
  command: string;
  /** Contains the configuration and the append-only file. */
  folder: string;
  logPath: string;
  port: number;
  password?: string;
  /** False keeps everything in memory. */
  durable?: boolean;
}

/** Starts a server on 127.0.0.1 that stores its data in the folder, and resolves when it accepts commands. */
export async function startRedis(options: RedisOptions): Promise<{ url: string; server: ServerProcess }> {
  const { records, command, folder, logPath, port, password, durable = true } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const configuration = path.join(folder, 'redis.conf');
  const lines = [
    'bind 127.0.0.1',
    `port ${port}`,
    `dir ${JSON.stringify(folder)}`,
    'daemonize no',
    'save ""',
    `appendonly ${durable ? 'yes' : 'no'}`,
    'appendfsync everysec',
    // Evicted jobs would be lost deliveries.
    'maxmemory-policy noeviction',
    ...(password === undefined ? [] : [`requirepass ${JSON.stringify(password)}`]),
  ];
  // The configuration is in a file, because other users can read the arguments of a process.
  writeFileSync(configuration, `${lines.join('\n')}\n`, { mode: 0o600 });
  const server = await startServer({
    name: 'redis',
    command,
    args: [configuration],
    env: { LC_ALL: 'C', TZ: 'UTC' },
    logPath,
    records,
    readyText: /ready to accept connections/i,
  });
  const login = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
  return { url: `redis://${login}127.0.0.1:${port}`, server };
}

/** The first Redis or Valkey server on a PATH, or undefined. */
export function findRedisServer(searchPath: string): string | undefined {
  const folders = searchPath.split(path.delimiter).filter((folder) => folder !== '');
  return ['redis-server', 'valkey-server']
    .flatMap((name) => folders.map((folder) => path.join(folder, name)))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
