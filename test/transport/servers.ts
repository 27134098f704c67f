import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import {
  freePort,
  childrenOf,
  startPostgres,
  startRedis,
  temporaryFolder,
  waitFor,
} from '../harness/index.js';

export type Kind = 'redis' | 'postgres';

/** A server of a test file's own, with everything that can befall it. */
export interface Server {
  readonly url: string;
  /** Empties what the queue keeps there. */
  wipe(): Promise<void>;
  /** Without warning, and back with what was on disk. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** It stops answering and closes no connection. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export async function startServer(kind: Kind): Promise<Server> {
  const server = kind === 'redis' ? await startRedis() : await startPostgres();
  // Postgres answers through its children, and a killed one leaves them to find out by themselves.
  const signal = (name: NodeJS.Signals) => signalAll([server.pid, ...childrenOf(server.pid)], name);
  return {
    url: server.url,
    wipe: () => (kind === 'redis' ? flush(server.url) : deleteJobs(server.url)),
    kill: async () => {
      signalAll(childrenOf(server.pid), 'SIGKILL');
      await server.kill('SIGKILL');
    },
    restart: () => server.restart(),
    freeze: () => {
      // The server first: it could start another session meanwhile.
      process.kill(server.pid, 'SIGSTOP');
      signal('SIGSTOP');
    },
    thaw: () => signal('SIGCONT'),
    stop: () => server.stop(),
  };
}

/** A cluster of one node, which refuses commands over several slots like a large one. */
export async function startRedisCluster(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = temporaryFolder('redis-cluster');
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const child = spawn(
    process.env['TEST_REDIS_SERVER'] ?? '',
    ['--bind', '127.0.0.1', '--port', `${port}`, '--save', '', '--dir', folder].concat([
      '--cluster-enabled',
      'yes',
      '--cluster-announce-ip',
      '127.0.0.1',
    ]),
    { stdio: 'ignore' },
  );
  const ask = (...command: [string, ...string[]]) => withRedis(url, (client) => client.call(...command));
  await waitFor(() => ask('PING'), { withinMs: 20_000, what: 'a Redis node' });
  await ask('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  const state = async () => String(await ask('CLUSTER', 'INFO')).includes('cluster_state:ok');
  await waitFor(state, { withinMs: 20_000, what: 'a Redis cluster' });
  return {
    url,
    stop: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const flush = async (url: string): Promise<void> => {
  await withRedis(url, (client) => client.flushall());
};

async function deleteJobs(url: string): Promise<void> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 20_000,
    query_timeout: 20_000,
  });
  await client.connect();
  try {
    await client.query('DELETE FROM bullmq.job');
  } finally {
    await client.end();
  }
}

async function withRedis<T>(url: string, ask: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { retryStrategy: null, commandTimeout: 20_000 });
  client.on('error', () => {});
  return ask(client).finally(() => client.disconnect());
}

function signalAll(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It ended by itself meanwhile.
    }
  }
}
