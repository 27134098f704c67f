import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { appMain } from '../../../apps/local/src/checkout.js';
import { startPostgres } from '../../../apps/local/src/embedded/postgres.js';
import { findRedisServer } from '../../../apps/local/src/embedded/redis.js';
import { endAll, openGuard, runFolder } from '../running.js';

let starting: Promise<void> | undefined;

/** One Postgres for the whole run, and the place of a Redis; tests learn both from the environment. */
export function startServices(): Promise<void> {
  starting ??= start();
  return starting;
}

async function start(): Promise<void> {
  const redisServer = findRedisServer(process.env['PATH'] ?? '');
  if (redisServer === undefined) {
    const missing = 'no redis-server or valkey-server on the PATH';
    if (process.env['NO_SKIP'] === '1') throw new Error(`NO_SKIP=1, and there is ${missing}`);
    process.stderr.write(`Tests with Redis are skipped: ${missing} (apt-get install redis-server)\n`);
  }
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'model-router-test-')));
  Object.assign(process.env, { TEST_FOLDER: folder, TEST_REDIS_SERVER: redisServer ?? '' });
  const postgres = await startPostgres({
    guard: openGuard(),
    folder: path.join(folder, 'postgres'),
    password: 'test',
    logPath: path.join(folder, 'postgres.log'),
    database: 'template_router',
    durable: false,
    settings: { max_connections: 400 },
  });
  migrateTemplate(postgres.url);
  process.env['TEST_TEMPLATE_URL'] = postgres.url;
}

/** Every test database is a copy of this one, so that the migrations run once. */
function migrateTemplate(url: string): void {
  execFileSync(process.execPath, [appMain('admin'), 'migrate'], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 60_000,
  });
}

/** Ends the services of the run; answers what is still running, which a test file left behind. */
export async function stopServices(): Promise<string[]> {
  const folder = runFolder();
  if (folder === '') return [];
  const left = leftBehind(path.join(folder, 'running'));
  await endAll();
  rmSync(folder, { recursive: true, force: true });
  return left.map((each) => `Left running: ${each}`);
}

/** The harness notes every process that it starts, and takes the note away when the process has ended. */
function leftBehind(folder: string): string[] {
  try {
    return readdirSync(folder).map((pid) => `${pid} ${readFileSync(path.join(folder, pid), 'utf8')}`);
  } catch {
    return [];
  }
}
