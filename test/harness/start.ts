import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { startPostgres as StartPostgres } from '../../apps/local/src/embedded/postgres.js';
import type { findRedisServer as FindRedisServer } from '../../apps/local/src/embedded/redis.js';
import type { Guard as GuardOf } from '../../apps/local/src/embedded/guard.js';

const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** What `stop.ts` ends; both run in the same process. */
export interface Running {
  guard: GuardOf;
  folder: string;
}

declare global {
  var testServices: Running | undefined;
}

/** One Postgres for the whole run, and the place of a Redis; tests learn both from the environment. */
export default async function start(): Promise<void> {
  const { Guard } = await built<{ Guard: typeof GuardOf }>('guard');
  const { startPostgres } = await built<{ startPostgres: typeof StartPostgres }>('postgres');
  const redisServer = await findOrInstallRedis();
  if (redisServer === undefined && process.env['NO_SKIP'] === '1') {
    throw new Error('NO_SKIP=1, and there is no redis-server or valkey-server on the PATH');
  }
  const guard = Guard.open();
  const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'model-router-test-')));
  globalThis.testServices = { guard, folder };
  const postgres = await startPostgres({
    guard,
    folder: path.join(folder, 'postgres'),
    password: 'test',
    logPath: path.join(folder, 'postgres.log'),
    database: 'template_router',
    durable: false,
    settings: { max_connections: 400 },
  });
  migrateTemplate(postgres.url);
  Object.assign(process.env, {
    TEST_TEMPLATE_URL: postgres.url,
    TEST_FOLDER: folder,
    TEST_REDIS_SERVER: redisServer ?? '',
  });
}

/** Jest loads this file as CommonJS, which cannot load TypeScript modules by their `.js` names: the build can. */
async function built<T>(name: string): Promise<T> {
  const file = path.join(checkout, 'dist/apps/local/src/embedded', `${name}.js`);
  if (!existsSync(file)) throw new Error('Tests run the built program: npm run build');
  return (await import(file)) as T;
}

/** Every test database is a copy of this one, so that the migrations run once. */
function migrateTemplate(url: string): void {
  execFileSync(process.execPath, [path.join(checkout, 'dist/apps/admin/src/main.js'), 'migrate'], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 60_000,
  });
}

async function findOrInstallRedis(): Promise<string | undefined> {
  const { findRedisServer } = await built<{ findRedisServer: typeof FindRedisServer }>('redis');
  const search = () => findRedisServer(process.env['PATH'] ?? '');
  const found = search();
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    say(
      'No redis-server or valkey-server on the PATH, tests with Redis are skipped: apt-get install redis-server',
    );
    return undefined;
  }
  say('Installing redis-server with apt-get …');
  try {
    installRedis();
  } catch (error) {
    say(`apt-get could not install redis-server, tests with Redis are skipped: ${String(error)}`);
  }
  return search();
}

/** A package that brings a service starts it, unless policy-rc.d forbids that: tests want the program alone. */
function installRedis(): void {
  const policy = '/usr/sbin/policy-rc.d';
  const ours = !existsSync(policy);
  if (ours) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const install = () => aptGet('install', '-y', '--no-install-recommends', 'redis-server');
    try {
      install();
    } catch {
      aptGet('update');
      install();
    }
  } finally {
    if (ours) rmSync(policy, { force: true });
  }
  if (isSystemd()) execFileSync('systemctl', ['disable', '--now', 'redis-server'], { stdio: 'ignore' });
}

function aptGet(...args: string[]): void {
  execFileSync('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 300_000,
  });
}

const isSystemd = (): boolean => readFileSync('/proc/1/comm', 'utf8').trim() === 'systemd';

const say = (line: string): boolean => process.stderr.write(`${line}\n`);
