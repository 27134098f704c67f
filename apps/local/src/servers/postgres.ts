import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { ProcessRecords } from '../processes.js';
import { StartFailure } from '../start-failure.js';
import { type Account, binaryOf, locatePostgres } from './postgres-binaries.js';
import { startServer, type ServerProcess, type ServerSpec } from './server-process.js';

interface PostgresOptions {
  records: ProcessRecords;
  /** Contains `data/`. Owned by the account that the server runs as. */
  folder: string;
  password: string;
  logPath: string;
  port: number;
  /** Created if it is missing. */
  database?: string;
  /** Settings of postgresql.conf that override the defaults. */
  settings?: Record<string, string | number>;
  /** False if the data need not survive a crash of the machine. */
  durable?: boolean;
}

/** The superuser of the cluster. */
const user = 'router';
/** How long sessions of a killed server may hold its shared memory, so that a new server cannot start. */
const retryForMs = 15_000;

/** Starts a real Postgres on 127.0.0.1 that accepts connections. The first start creates the cluster. */
export async function startPostgres(
  options: PostgresOptions,
): Promise<{ url: string; server: ServerProcess }> {
  const { folder, password, port, database = 'model_router', durable = true } = options;
  const run = prepareRun(options);
  if (!existsSync(path.join(folder, 'data'))) await initialise(options, run);
  const settings = {
    listen_addresses: '127.0.0.1',
    // No Unix socket: its folder would have to be writable for the account and its path short.
    unix_socket_directories: '',
    max_connections: 200,
    ...(!durable && { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...options.settings,
    port,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = await startWhenMemoryIsFree({
    ...run,
    command: run.binary('postgres'),
    args: ['-D', `${run.path}/data`, ...flags],
    readyText: /ready to accept (read-only )?connections/,
  });
  try {
    await makeDatabase({ host: '127.0.0.1', port, user, password }, database);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { url: `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`, server };
}

/** The settings shared by the programs of the cluster. */
interface Run extends Omit<ServerSpec, 'command' | 'args'> {
  binary: (name: 'postgres' | 'initdb') => string;
  /** The path of the folder as these programs see it. */
  path: string;
}

/**
 * Postgres refuses to run as root, so under root it runs as another account. If that account cannot reach the
 * folder, for example in a checkout below /root, it gets the open folder as a descriptor instead.
 */
function prepareRun({ folder, logPath, records }: PostgresOptions): Run {
  const account = runtimeAccount(folder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (account) chownSync(folder, account.uid, account.gid);
  const closed = account !== undefined && !reaches(account, folder);
  if (closed && process.platform !== 'linux') {
    throw new StartFailure(
      `User ${account.uid} cannot reach ${folder}. Set LOCAL_DIR, or do not start as root.`,
    );
  }
  const binaries = locatePostgres(account);
  return {
    name: 'postgres',
    binary: (name) => binaryOf(binaries, name),
    path: closed ? '/proc/self/fd/3' : folder,
    // Under the caller's locale, clusters could differ in encoding and sort order.
    env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' },
    logPath,
    records,
    // Ends the sessions and writes a checkpoint. SIGTERM would wait for the clients.
    stopSignal: 'SIGINT',
    account,
    folder: closed ? folder : undefined,
  };
}

/** For root, the owner of the data, or initially the account `nobody`. Undefined for other users. */
function runtimeAccount(folder: string): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const owner = statSync(folder, { throwIfNoEntry: false });
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : { uid: 65_534, gid: 65_534 };
}

function reaches(account: Account, folder: string): boolean {
  const options = { ...account, cwd: '/', env: {}, timeout: 10_000 };
  return spawnSync('/bin/sh', ['-c', 'cd "$0"', folder], options).status === 0;
}

/** Creates the cluster under a temporary name, so that a start that is killed leaves no partial cluster. */
async function initialise(options: PostgresOptions, run: Run): Promise<void> {
  const { folder, password, durable = true } = options;
  for (const name of readdirSync(folder)) {
    if (name.startsWith('draft')) rmSync(path.join(folder, name), { recursive: true, force: true });
  }
  const passwordFile = path.join(folder, 'draft.password');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (run.account) chownSync(passwordFile, run.account.uid, run.account.gid);
  const initdb = await startServer({
    ...run,
    name: 'initdb',
    command: run.binary('initdb'),
    args: [
      `--pgdata=${run.path}/draft`,
      `--username=${user}`,
      '--auth=scram-sha-256',
      `--pwfile=${run.path}/draft.password`,
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
      ...(durable ? [] : ['--no-sync']),
    ],
  });
  await initdb.ended;
  rmSync(passwordFile, { force: true });
  if (initdb.exitCode !== 0) throw new StartFailure(initdb.exitMessage);
  renameSync(path.join(folder, 'draft'), path.join(folder, 'data'));
}

async function startWhenMemoryIsFree(spec: ServerSpec): Promise<ServerProcess> {
  const lastMs = Date.now() + retryForMs;
  for (;;) {
    try {
      return await startServer(spec);
    } catch (error) {
      const held = String(error).includes('pre-existing shared memory block');
      if (!held || Date.now() > lastMs) throw error;
      await pause(200);
    }
  }
}

async function makeDatabase(place: object, database: string): Promise<void> {
  const client = new Client({ ...place, database: 'postgres', connectionTimeoutMillis: 20_000 });
  // Without a listener, a connection that breaks while idle would be an uncaught exception.
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`);
  } catch (error) {
    if ((error as { code?: string }).code !== '28P01') throw error;
    throw new StartFailure('The kept password does not match the kept Postgres data. Remove both.', {
      cause: error,
    });
  } finally {
    await client.end();
  }
}
