import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { appMain } from '../../../apps/local/src/checkout.js';
import { startPostgres } from '../../../apps/local/src/servers/postgres.js';
import { findRedisServer } from '../../../apps/local/src/servers/redis.js';
import { identify, isAlive, ProcessRecords, readIdentity } from '../../../apps/local/src/processes.js';
import type { ServerProcess } from '../../../apps/local/src/servers/server-process.js';
import { freePort } from '../ports.js';
import { runFolder, runRecords } from '../running.js';

let starting: Promise<void> | undefined;
let postgres: ServerProcess | undefined;

/** Prefix of the folders of all runs. The file in each folder names the Jest process that owns it. */
const folderPrefix = 'model-router-test-';
const ownerFile = 'owner.json';

/** Starts one Postgres for the whole run and finds a Redis; tests read both from the environment. */
export function startServices(): Promise<void> {
  starting ??= start();
  return starting;
}

async function start(): Promise<void> {
  const redisServer = findRedisServer(process.env['PATH'] ?? '');
  if (redisServer === undefined) {
    const missing = 'no redis-server or valkey-server on the PATH';
    if (process.env['NO_SKIP'] === '1') throw new Error(`NO_SKIP=1, but there is ${missing}`);
    process.stderr.write(`Tests with Redis are skipped: ${missing} (apt-get install redis-server)\n`);
  }
  await endKilledRuns();
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), folderPrefix)));
  writeFileSync(path.join(folder, ownerFile), JSON.stringify(identify(process.pid)));
  Object.assign(process.env, { TEST_FOLDER: folder, TEST_REDIS_SERVER: redisServer ?? '' });
  const { url, server } = await startPostgres({
    records: runRecords(),
    port: await freePort(),
    folder: path.join(folder, 'postgres'),
    password: 'test',
    logPath: path.join(folder, 'postgres.log'),
    database: 'template_router',
    durable: false,
    settings: { max_connections: 400 },
  });
  postgres = server;
  migrateTemplate(url);
  process.env['TEST_TEMPLATE_URL'] = url;
}

/** If a former Jest was killed, its servers are still running. */
async function endKilledRuns(): Promise<void> {
  for (const name of readdirSync(os.tmpdir()).filter((name) => name.startsWith(folderPrefix))) {
    const folder = path.join(os.tmpdir(), name);
    const owner = readIdentity(path.join(folder, ownerFile));
    if (!owner || isAlive(owner)) continue;
    await new ProcessRecords(path.join(folder, 'running')).endAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Every test database is a copy of this one, so that the migrations run once. */
function migrateTemplate(url: string): void {
  execFileSync(process.execPath, [appMain('admin'), 'migrate'], {
    env: { ...process.env, DATABASE_URL: url },
    // A failure contains what it wrote to standard error.
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 60_000,
  });
}

/** Ends the services of the run, and returns what a test file left running. */
export async function stopServices(): Promise<string[]> {
  const folder = runFolder();
  if (folder === '') return [];
  await postgres?.stop();
  const left = runRecords().list().filter(isAlive);
  await runRecords().endAll();
  rmSync(folder, { recursive: true, force: true });
  return left.map(({ name, pid }) => `Left running: ${name} (pid ${pid})`);
}
