import { chownSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { prepareFooting, serverEnvironment, type Footing } from './footing.js';
import type { Guard, GuardedServer } from './guard.js';
import { runInitdb } from './initdb.js';
import { binary } from './native.js';
import { freePort } from './ports.js';
import { prepareDatabase } from './postgres-ready.js';
import { endOrphan } from './processes.js';
import { lastLines } from './server-log.js';

interface PostgresOptions {
  guard: Guard;
  /** Holds `data/`; owned by the account that the server runs with. */
  folder: string;
  password: string;
  logPath: string;
  /** Taken when it is free, else any other. */
  port?: number;
  /** Made when it is missing. */
  database?: string;
  /** Lines of postgresql.conf that win over the defaults. */
  settings?: Record<string, string | number>;
  /** False for data that nobody needs after a crash of the machine. */
  durable?: boolean;
  /** Aborts a first start, which takes a while. */
  signal?: AbortSignal;
}

interface Postgres {
  url: string;
  port: number;
  server: GuardedServer;
}

/** The superuser of the cluster. */
const user = 'router';

/** For how long a start that may work the next time is tried again. */
const retryForMs = 15_000;

/** Starts a real Postgres on 127.0.0.1 and answers when it takes connections. A first start makes the cluster. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const footing = prepareFooting(options.folder);
  await endFormerServer(options.folder);
  if (!existsSync(path.join(options.folder, 'data'))) await initialise(options, footing);
  const database = options.database ?? 'model_router';
  const lastMs = performance.now() + retryForMs;
  for (;;) {
    const port = await freePort(options.port);
    const server = await options.guard.run(serverSpec(options, footing, port));
    const at = { host: '127.0.0.1', port, user, password: options.password };
    try {
      await prepareDatabase(at, database, server, options.logPath);
    } catch (error) {
      await server.stop();
      if (performance.now() < lastMs && mayWorkNextTime(lastLines(options.logPath, 5))) {
        await pause(200);
        continue;
      }
      throw error;
    }
    const url = `postgres://${user}:${encodeURIComponent(options.password)}@127.0.0.1:${port}/${database}`;
    return { url, port, server };
  }
}

/**
 * Between the look for a free port and the start somebody else may have taken it; and the sessions of a
 * killed server hold its memory for a moment longer.
 */
function mayWorkNextTime(log: string): boolean {
  return log.includes('could not bind') || log.includes('pre-existing shared memory block');
}

function serverSpec(options: PostgresOptions, footing: Footing, port: number) {
  const settings = {
    listen_addresses: '127.0.0.1',
    // No socket file: its folder would have to be writable for the account, and its path short.
    unix_socket_directories: '',
    max_connections: 200,
    ...(options.durable === false && { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...options.settings,
    port,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return {
    name: 'Postgres',
    command: binary(footing.native, 'postgres'),
    args: ['-D', `${footing.path}/data`, ...flags],
    env: serverEnvironment,
    logPath: options.logPath,
    // Ends the sessions and writes a checkpoint; SIGTERM would wait for the clients.
    stopSignal: 'SIGINT' as const,
    graceMs: 8_000,
    ...(footing.account && { account: footing.account }),
    ...(footing.folder !== undefined && { folder: footing.folder }),
  };
}

/** The cluster gets its name when it is complete: a start that was killed half way leaves none behind. */
async function initialise(options: PostgresOptions, footing: Footing): Promise<void> {
  for (const name of readdirSync(options.folder)) {
    if (name.startsWith('draft-')) rmSync(path.join(options.folder, name), { recursive: true, force: true });
  }
  const draft = `draft-${process.pid}`;
  const passwordFile = path.join(options.folder, `${draft}.password`);
  writeFileSync(passwordFile, `${options.password}\n`, { mode: 0o600 });
  if (footing.account) chownSync(passwordFile, footing.account.uid, footing.account.gid);
  try {
    await runInitdb(footing, options.signal, [
      `--pgdata=${footing.path}/${draft}`,
      `--username=${user}`,
      '--auth=scram-sha-256',
      `--pwfile=${footing.path}/${draft}.password`,
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
      ...(options.durable === false ? ['--no-sync'] : []),
    ]);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(path.join(options.folder, draft), path.join(options.folder, 'data'));
}

/** A server whose guard was killed too still runs on this data; a second one on it is refused by Postgres. */
async function endFormerServer(folder: string): Promise<void> {
  const data = path.join(folder, 'data');
  const file = path.join(data, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8').split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1) return;
  const looksRight = (description: string) => description.includes('postgres') && description.includes(data);
  await endOrphan(pid, looksRight, 'SIGINT');
}
