// The service as real processes of the test harness, on servers of its own, with a provider that costs almost
// nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { findRedisServer } from '../../dist/apps/local/src/servers/redis.js';
import { ApiKeyRepository, WorkspaceRepository } from '../../dist/libs/persistence/src/index.js';
import { brokenBooks } from '../../dist/test/harness/books.js';
import { harnessDatabase } from '../../dist/test/harness/long-timeouts.js';
import { startDatabaseServer } from '../../dist/test/harness/own-postgres.js';
import { temporaryFolder } from '../../dist/test/harness/running.js';
import { startRedis } from '../../dist/test/harness/servers.js';
import { spawnApp } from '../../dist/test/harness/spawn-app.js';
import { waitFor } from '../../dist/test/harness/wait-for.js';
import { isShort } from './size.mjs';

// The harness reads from the environment where it may write, and which Redis it starts.
process.env.TEST_FOLDER = mkdtempSync(path.join(tmpdir(), 'bench-'));
process.env.TEST_REDIS_SERVER = findRedisServer(process.env.PATH ?? '') ?? '';
process.on('exit', () => rmSync(process.env.TEST_FOLDER, { recursive: true, force: true }));

/** Waits for the check to hold, and throws if it does not within two minutes. */
export const until = (check, what, withinMs = 120_000) => waitFor(check, { withinMs, what, everyMs: 50 });

/** A benchmark that could not be measured counts as missing its aim. */
export const skipped = (why) => ({ what: 'not measured', measured: why, aim: 'measured', reached: false });
export const isSkipped = ({ what, reached }) => what === 'not measured' && !reached;

export const hasRedis = () => process.env.TEST_REDIS_SERVER !== '';

const secret = 'b'.repeat(32);

/** `stop` stops everything. Without Redis, Postgres is the transport. */
export async function startService({ transport = hasRedis() ? 'redis' : 'postgres', settings = {} } = {}) {
  const closing = [];
  const stop = async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  };
  try {
    const { database } = await startDatabaseServer({
      settings: { max_connections: 300, ...settings, ...JSON.parse(process.env.BENCH_POSTGRES ?? '{}') },
    });
    closing.push(() => database.drop());
    const redis = transport === 'redis' ? await startRedis() : undefined;
    closing.push(() => redis?.stop());
    const provider = await startScript('provider.mjs', {});
    closing.push(provider.stop);
    provider.settings = (body) =>
      fetch(`${provider.url}/settings`, { method: 'POST', body: JSON.stringify(body) });
    provider.counts = async () => (await fetch(`${provider.url}/counts`)).json();
    const env = {
      DATABASE_URL: database.url,
      ...(redis && { REDIS_URL: redis.url }),
      JWT_SECRET: secret,
      SIGNING_SECRET: secret,
      ASSET_DIR: temporaryFolder('assets'),
      ASSET_BASE_URL: 'http://assets.bench',
      PROVIDER_OPENAI_BASE_URL: `${provider.url}/openai`,
      PROVIDER_OPENAI_KEY: 'bench',
      PROVIDER_BFL_BASE_URL: `${provider.url}/bfl`,
      PROVIDER_BFL_KEY: 'bench',
      ASSET_ALLOWED_ORIGINS: provider.url,
    };
    const client = new Client(database.url);
    await client.connect();
    closing.push(() => client.end());
    const start = async (app, more, options) => {
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
      holdToInvariants: () => holdToInvariants(env),
      empty: () => empty(env, client),
      dropMessages: () => dropMessages(env, client),
      customer: (name, limits) => customer(env, name, limits),
      customers: (count, name = 'bench') =>
        Promise.all(Array.from({ length: count }, (_each, index) => customer(env, `${name}-${index}`))),
      ...(await customer(env, 'bench')),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function withStore({ DATABASE_URL }, use) {
  const store = harnessDatabase(DATABASE_URL);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/**
 * Throws unless the counters match the live runs and the money matches the outcomes: speed is worthless
 * otherwise.
 */
async function holdToInvariants(env) {
  const broken = await withStore(env, brokenBooks);
  if (broken.length > 0) throw new Error(`Broken invariants:\n${broken.join('\n')}`);
}

/** Clears what the last benchmark left, so that it does not wait in front of the next one's runs. */
async function empty(env, client) {
  await holdToInvariants(env);
  await truncate(client, ['run', 'payload', 'outbox', 'backlog_chunk', 'ledger_entry', 'audit_record']);
  await truncate(client, ['budget_window']);
  await client.query('UPDATE workspace SET inflight = 0, committed_micros = 0, held_micros = 0, backlog = 0');
  await dropMessages(env, client);
}

/**
 * Empties only the tables that exist, because the same benchmarks also measure releases that lack one of them.
 */
async function truncate(client, names) {
  const { rows } = await client.query(
    `SELECT string_agg(to_regclass(name)::text, ', ') AS tables FROM unnest($1::text[]) AS name`,
    [names],
  );
  if (rows[0].tables !== null) await client.query(`TRUNCATE ${rows[0].tables} CASCADE`);
}

/** Empties the transport, so that only rows of the database say what waits. */
async function dropMessages({ REDIS_URL }, client) {
  if (REDIS_URL === undefined) {
    await truncate(client, ['bullmq.job']);
  } else {
    const redis = new Redis(REDIS_URL);
    await redis.flushall();
    redis.disconnect();
  }
}

const many = 1_000_000_000;

/** A workspace without effective limits except the given ones, and its key. */
const customer = (env, name, { budgets = [], ...limits } = {}) =>
  withStore(env, async (store) => {
    const { id } = await new WorkspaceRepository(store).create(name, {
      balanceMicros: null,
      inflightLimit: many,
      windowLimit: many,
      backlogLimit: many,
      committedLimitMicros: many * many,
      ...limits,
    });
    if (budgets.length > 0) await setBudgets(store, id, budgets);
    const facts = { name: 'bench', scopes: ['catalog', 'run', 'requests', 'usage'], expiresAt: null };
    const { key } = await new ApiKeyRepository(store).create(id, facts, { actor: 'bench' });
    return { workspaceId: id, key };
  });

/**
 * Sets budgets without an effective limit. Imported only when needed, because the same benchmarks also measure releases
 * without budgets.
 */
async function setBudgets(store, workspaceId, budgets) {
  const { BudgetRepository } = await import('../../dist/libs/persistence/src/index.js');
  const { routerBudgetInput } = await import('../../dist/libs/schemas/src/index.js');
  const repository = new BudgetRepository(store);
  for (const [nth, budget] of budgets.entries()) {
    const input = routerBudgetInput.parse({ ...budget, limit_cents: many });
    await repository.set(workspaceId, `bench-${nth}`, input, 'bench');
  }
}

/** `rests`: wait until the app is idle. An app with work to do never is. */
export async function startApp(name, env, { rests = true } = {}) {
  const app = await spawnApp(name, env);
  await app.ready;
  if (rests && !isShort) await settled(`${app.internalUrl}/metrics`);
  return app;
}

/** Submits `runs` runs through the gateway, sixteen at a time, taking turns among the workspaces and the webhooks. */
export async function submitRuns(spaces, gateway, { model, body, runs, webhooks = [] }) {
  const keys = [spaces].flat().map(({ key }) => key);
  const queries = webhooks.map((url) => `?webhook_url=${encodeURIComponent(url)}`);
  let left = runs;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (left > 0) {
        left -= 1;
        const query = queries[left % queries.length] ?? '';
        const answer = await fetch(`${gateway.url}/v2/models/${model}/requests${query}`, {
          method: 'POST',
          headers: { 'x-api-key': keys[left % keys.length], 'content-type': 'application/json' },
          body,
        });
        await answer.arrayBuffer();
        if (answer.status !== 201) throw new Error(`a submit answers ${answer.status}`);
      }
    }),
  );
}

/**
 * A newly started app still has work for some seconds, so wait for it to become idle before measuring.
 */
async function settled(metricsUrl) {
  const cpuSeconds = async () => {
    const text = await (await fetch(metricsUrl)).text();
    return Number(/^router_process_cpu_seconds_total (\S+)/m.exec(text)?.[1]);
  };
  let before = await cpuSeconds();
  for (let tries = 0; tries < 60; tries += 1) {
    await pause(500);
    const now = await cpuSeconds();
    if (now - before < 0.05) return;
    before = now;
  }
  throw new Error('a newly started app does not become idle');
}

/**
 * Starts a program of this folder that prints its address when it is ready; `bare` are the settings of a floor.
 */
export async function startScript(name, bare) {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, name)], {
    env: { PATH: process.env.PATH, BARE: JSON.stringify(bare) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  // After an error nobody stops it.
  process.on('exit', () => child.kill('SIGKILL'));
  const ended = closed.then(() => Promise.reject(new Error(`${name} ended before it was ready`)));
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => {});
  const stop = async () => {
    child.kill('SIGTERM');
    await closed;
  };
  return { url: String(line).trim(), pid: child.pid, stop };
}

/** Resident memory of a process. */
export const residentBytes = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
