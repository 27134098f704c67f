// The service as real processes on servers of its own, with a provider that costs next to nothing.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { freePort } from '../../dist/apps/local/src/ports.js';
import { ProcessRecords } from '../../dist/apps/local/src/processes.js';
import { startPostgres } from '../../dist/apps/local/src/servers/postgres.js';
import { findRedisServer, startRedis } from '../../dist/apps/local/src/servers/redis.js';
import {
  ApiKeyRepository,
  Database,
  OutboxRepository,
  Workspace,
  WorkspaceRepository,
} from '../../dist/libs/persistence/src/index.js';
import { driftLines, moneyLines } from '../../dist/test/harness/books.js';

export const main = (app) => path.resolve(`dist/apps/${app}/src/main.js`);
const secret = 'b'.repeat(32);

/** Waits until the check holds; throws when that takes longer than two minutes. */
export async function until(check, what) {
  for (const lastMs = performance.now() + 120_000; !(await check());) {
    if (performance.now() > lastMs) throw new Error(`${what} did not come within two minutes`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** What was not measured is not reached. */
export const skipped = (why) => ({ what: 'not measured', measured: why, aim: 'measured', reached: false });

export const hasRedis = () => findRedisServer(process.env.PATH ?? '') !== undefined;

/** Without a transport's own server when `transport` is `postgres`. Stops everything with `stop`. */
export async function startService({ transport }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'bench-runs-'));
  const records = new ProcessRecords(path.join(folder, 'running'));
  const closing = [async () => rmSync(folder, { recursive: true, force: true }), () => records.endAll()];
  const stop = async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  };
  try {
    const postgres = await startPostgres({
      records,
      port: await freePort(),
      folder: path.join(folder, 'postgres'),
      logPath: path.join(folder, 'postgres.log'),
      password: 'bench',
      settings: { max_connections: 300, ...JSON.parse(process.env.BENCH_POSTGRES ?? '{}') },
    });
    closing.push(() => postgres.server.stop());
    const env = {
      PATH: process.env.PATH,
      DATABASE_URL: postgres.url,
      JWT_SECRET: secret,
      SIGNING_SECRET: secret,
      ASSET_DIR: path.join(folder, 'assets'),
    };
    if (transport === 'redis') {
      const command = findRedisServer(env.PATH ?? '');
      const logPath = path.join(folder, 'redis.log');
      const redis = await startRedis({
        records,
        command,
        folder: path.join(folder, 'redis'),
        logPath,
        port: await freePort(),
      });
      closing.push(() => redis.server.stop());
      env.REDIS_URL = redis.url;
    }
    await promisify(execFile)(process.execPath, [main('admin'), 'migrate'], { env });
    const provider = await startScript('provider.mjs', {});
    closing.push(provider.stop);
    provider.settings = (body) =>
      fetch(`${provider.url}/settings`, { method: 'POST', body: JSON.stringify(body) });
    provider.counts = async () => (await fetch(`${provider.url}/counts`)).json();
    Object.assign(env, {
      PROVIDER_OPENAI_BASE_URL: `${provider.url}/openai`,
      PROVIDER_OPENAI_KEY: 'bench',
      PROVIDER_BFL_BASE_URL: `${provider.url}/bfl`,
      PROVIDER_BFL_KEY: 'bench',
      ASSET_ALLOWED_ORIGINS: provider.url,
    });
    const client = new Client(postgres.url);
    await client.connect();
    closing.push(() => client.end());
    const start = async (app, more = {}, options = {}) => {
      const started = await startApp(app, { ...env, ...more }, options);
      closing.push(started.stop);
      return started;
    };
    return {
      env,
      client,
      provider,
      start,
      stop,
      holdToInvariants: () => holdToInvariants(env, client),
      empty: () => empty(env, client),
      customer: (name, limits) => customer(env, name, limits),
      ...(await customer(env, 'bench')),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Throws unless the counters are those of the live runs and the money is that of the outcomes: no speed is worth that. */
async function holdToInvariants(env, client) {
  const database = databaseOf(env);
  const drift = await new OutboxRepository(database).drift();
  await database.close();
  const money = await moneyLines(async (text) => (await client.query(text)).rows);
  const broken = [...driftLines(drift), ...money];
  if (broken.length > 0) throw new Error(`Broken invariants:\n${broken.join('\n')}`);
}

/** Ends a benchmark: what it left would wait in front of the next one's runs. */
async function empty(env, client) {
  await holdToInvariants(env, client);
  const { REDIS_URL } = env;
  await client.query('TRUNCATE run, payload, outbox, backlog_chunk, ledger_entry, audit_record');
  await client.query('UPDATE workspace SET inflight = 0, committed_micros = 0, held_micros = 0, backlog = 0');
  if (REDIS_URL === undefined) {
    await client.query('TRUNCATE bullmq.job CASCADE');
  } else {
    const redis = new Redis(REDIS_URL);
    await redis.flushall();
    redis.disconnect();
  }
}

const databaseOf = ({ DATABASE_URL }) =>
  Database.create({
    DATABASE_URL,
    DATABASE_POOL: 1,
    DATABASE_READ_POOL: 1,
    DATABASE_REGISTRY_POOL: 1,
    DATABASE_ACQUIRE_MS: 5000,
    DATABASE_STATEMENT_MS: 10_000,
  });

/** A workspace whose other allowances nothing here reaches, and its key. */
async function customer(env, name, limits) {
  const database = databaseOf(env);
  const dataSource = await database.dataSource();
  const workspaces = new WorkspaceRepository(dataSource.getRepository(Workspace));
  const many = 1_000_000_000;
  const { id } = await workspaces.create(name, {
    balanceMicros: null,
    inflightLimit: many,
    windowLimit: many,
    backlogLimit: many,
    committedLimitMicros: many * many,
    ...limits,
  });
  const key = await new ApiKeyRepository(database).create(
    id,
    {
      name: 'bench',
      scopes: ['catalog', 'run'],
      expiresAt: null,
    },
    { actor: 'test' },
  );
  await database.close();
  return { workspaceId: id, key: key.key };
}

/** `rests`: waits until it has come to rest, which an app with work to do does not. */
export async function startApp(app, env, { rests = true } = {}) {
  const [port, internal] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${app === 'worker' ? internal : port}`;
  const child = spawn(process.execPath, [main(app)], {
    env: { ...env, PORT: port, INTERNAL_PORT: internal, ASSET_BASE_URL: `http://127.0.0.1:${port}` },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = stopping(child);
  for (let tries = 0; ; tries += 1) {
    const ready = await fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready) {
      if (rests) await settled(`http://127.0.0.1:${internal}/metrics`);
      return { url, pid: child.pid, stop };
    }
    if (tries > 600 || child.exitCode !== null) throw new Error(`${app} does not get ready`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Admits so many runs through the gateway, sixteen at a time. */
export async function submitRuns({ key }, gateway, { model, body, runs }) {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  let left = runs;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (left > 0) {
        left -= 1;
        const answer = await fetch(`${gateway.url}/v2/models/${model}/requests`, {
          method: 'POST',
          headers,
          body,
        });
        await answer.arrayBuffer();
        if (answer.status !== 201) throw new Error(`a submit answers ${answer.status}`);
      }
    }),
  );
}

/** An app that has just started goes on with compiling schemas for some seconds, and is measured after that. */
async function settled(metricsUrl) {
  const cpuSeconds = async () => {
    const text = await (await fetch(metricsUrl)).text();
    return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]);
  };
  let before = await cpuSeconds();
  for (let tries = 0; tries < 60; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const now = await cpuSeconds();
    if (now - before < 0.05) return;
    before = now;
  }
  throw new Error('an app that has started does not come to rest');
}

/** A program of this folder that prints its address. */
export async function startScript(name, env) {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, name)], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close').then(() =>
    Promise.reject(new Error(`${name} ended before it was ready`)),
  );
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => {});
  return { url: String(line).trim(), pid: child.pid, stop: stopping(child) };
}

function stopping(child) {
  const ended = once(child, 'close');
  return async () => {
    child.kill('SIGTERM');
    await ended;
  };
}

/** Resident memory of a process. */
export const residentBytes = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
