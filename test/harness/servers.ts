import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { isRunning } from '../../apps/local/src/processes.js';
import { startPostgres as startEmbeddedPostgres } from '../../apps/local/src/servers/postgres.js';
import { startRedis as startEmbeddedRedis } from '../../apps/local/src/servers/redis.js';
import type { ServerProcess } from '../../apps/local/src/servers/server-process.js';
import { freePort } from './ports.js';
import { noteEnded, noteStarted, runRecords, temporaryFolder } from './running.js';
import { waitFor } from './wait-for.js';

export interface TestServer {
  url: string;
  port: number;
  /** Contains the server's data and its log. */
  folder: string;
  /** Changes with `restart`. */
  readonly pid: number;
  /** Sends the signal, and waits for the server to exit if the signal ends it. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts the server again on the same port and data, after stopping it if it runs. */
  restart(): Promise<void>;
  stop(): Promise<void>;
  logs(): string;
}

interface Started {
  url: string;
  server: ServerProcess;
}

/** A Redis for one test file, with or without an append-only file (default: with). */
export async function startRedis(options: { durable?: boolean } = {}): Promise<TestServer> {
  const command = process.env['TEST_REDIS_SERVER'] ?? '';
  if (command === '') throw new Error('Redis is not installed; use describe.each(transports())');
  return keep('redis', (folder, port) =>
    startEmbeddedRedis({
      records: runRecords(),
      command,
      folder: path.join(folder, 'data'),
      logPath: path.join(folder, 'log'),
      durable: options.durable ?? true,
      port,
    }),
  );
}

/** A separate durable Postgres with an empty database, for tests that kill or freeze it. */
export async function startPostgres(
  options: {
    settings?: Record<string, string | number>;
    /** Fills the folder of its cluster, instead of initialising a new one. */
    cluster?: (folder: string) => Promise<void>;
  } = {},
): Promise<TestServer> {
  const { cluster, ...settings } = options;
  return keep('postgres', async (folder, port) => {
    const own = path.join(folder, 'postgres');
    if (!existsSync(own)) await cluster?.(own);
    return startEmbeddedPostgres({
      records: runRecords(),
      folder: own,
      logPath: path.join(folder, 'log'),
      password: 'test',
      ...settings,
      port,
    });
  });
}

/** SIGQUIT is Postgres' immediate shutdown, without a checkpoint. */
const ending = new Set<NodeJS.Signals>(['SIGKILL', 'SIGTERM', 'SIGQUIT']);

/**
 * The live processes that a process has started. The process's own list in /proc may lack some while others end.
 */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => statusOf(name).includes(`\nPPid:\t${parent}\n`))
    .map(Number);
}

function statusOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}

async function keep(
  name: string,
  start: (folder: string, port: number) => Promise<Started>,
): Promise<TestServer> {
  const folder = temporaryFolder(name);
  const port = await freePort();
  let { url, server } = await start(folder, port);
  const stop = async () => {
    await server.stop();
    noteEnded(server.pid);
  };
  const note = () => noteStarted({ pid: server.pid, name, end: stop });
  note();
  return {
    url,
    port,
    folder,
    get pid() {
      return server.pid;
    },
    kill: async (signal) => {
      const children = childrenOf(server.pid);
      process.kill(server.pid, signal);
      if (!ending.has(signal)) return;
      await server.ended;
      // Postgres does not start while sessions of its former process still hold shared memory.
      const gone = () => !children.some(isRunning);
      await waitFor(gone, { withinMs: 20_000, what: `the sessions of ${name} to end` });
      noteEnded(server.pid);
    },
    restart: async () => {
      if (server.running) await stop();
      ({ server } = await start(folder, port));
      note();
    },
    stop: async () => {
      if (server.running) await stop();
      rmSync(folder, { recursive: true, force: true });
    },
    logs: () => readFileSync(path.join(folder, 'log'), 'utf8'),
  };
}
