import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApiKeyRepository, migrate, WorkspaceRepository } from '#persistence';
import { Client } from 'pg';
import { textOf } from '../documents/checkout-files.js';
import { type App, freePort, spawnApp, startPostgres, type TestServer } from '../harness/faults.js';
import { operatorDatabase } from '../harness/long-timeouts.js';
import { Caller, failOnLeftovers, startRedis, temporaryFolder, transports } from '../harness/index.js';
import { systemEnvironment } from '../harness/system-environment.js';

const [transport] = transports();
const denied = /permission denied|must be owner/;

describe('a database with the roles of roles.sql', () => {
  let server: TestServer;
  let redis: TestServer | undefined;
  const apps: App[] = [];
  const as = (role: string) => {
    const url = new URL(server.url);
    url.username = role;
    url.password = role;
    return url.href;
  };
  beforeAll(async () => {
    server = await startPostgres();
    redis = transport === 'redis' ? await startRedis() : undefined;
    const roles = ['router_migrate', 'router_run', 'router_scale'];
    await tell(
      server.url,
      textOf('docs/operations/roles.sql'),
      ...roles.map((role) => `ALTER ROLE ${role} PASSWORD '${role}'`),
    );
    const owner = operatorDatabase(as('router_migrate'));
    await migrate(await owner.dataSource());
    await owner.close();
  });

  afterAll(async () => {
    await Promise.all(apps.map((app) => app.stop()));
    await redis?.stop();
    await server.stop();
  });

  it('lets apps that connect as router_run serve a run and its copied asset', async () => {
    const simulator = await spawnApp('simulator', { SIMULATOR_DEFAULT_MS: '100' });
    apps.push(simulator);
    await simulator.ready;
    const port = await freePort();
    const env = systemEnvironment({
      databaseUrl: as('router_run'),
      redisUrl: redis?.url,
      simulator,
      providerKeys: {},
      assets: temporaryFolder('assets'),
      assetBaseUrl: `http://127.0.0.1:${port}`,
      longTimeouts: true,
    });
    const gateway = await spawnApp('gateway', env, { port });
    const worker = await spawnApp('worker', env);
    apps.unshift(gateway, worker);
    await Promise.all([gateway.ready, worker.ready]);

    const store = operatorDatabase(as('router_run'));
    const workspace = await new WorkspaceRepository(store).create('demo', {});
    const facts = { name: 'test', scopes: ['run' as const, 'catalog' as const], expiresAt: null };
    const { key } = await new ApiKeyRepository(store).create(workspace.id, facts, { actor: 'test' });
    await store.close();

    const caller = new Caller(() => [gateway.url], key);
    const result = await caller.call('POST', '/v2/models/bfl/flux-2-pro', { body: '{"prompt":"a cat"}' });
    expect(result.status).toBe(200);
    const { sample } = result.json()['result'] as { sample: string };
    expect(new URL(sample).origin).toBe(gateway.url);
    // Workers have done everything by now that they do every minute.
    expect(gateway.logs()).not.toMatch(denied);
    expect(worker.logs()).not.toMatch(denied);
  });

  it('lets router_run create and drop the partitions of days', async () => {
    const run = as('router_run');
    expect(await tell(run, 'SELECT ensure_partitions(9) AS missing')).toEqual([{ missing: 0 }]);
    const days = `SELECT count(*)::int AS days FROM pg_inherits WHERE inhparent = 'run'::regclass`;
    expect(await tell(run, days)).toEqual([{ days: 12 }]);
    // Nine days later the oldest days are empty and past.
    expect(
      await tell(run, `SET router.clock_offset = '9 days'`, 'SELECT drop_day(86400) IS NOT NULL AS dropped'),
    ).toEqual([{ dropped: true }]);
  });

  it.each([
    'ALTER TABLE run ADD COLUMN planted text',
    'DROP TABLE ledger_entry',
    'TRUNCATE ledger_entry',
    'CREATE TABLE planted (id int)',
    'CREATE OR REPLACE FUNCTION workers_wanted(numeric, numeric) RETURNS numeric LANGUAGE sql RETURN 0',
    'DROP TRIGGER run_one_outcome ON run',
    'ALTER TABLE run DISABLE TRIGGER run_one_outcome',
    'SET ROLE router_migrate',
  ])('denies router_run: %s', (statement) =>
    expect(tell(as('router_run'), statement)).rejects.toThrow(denied),
  );

  it('lets a second user, created as the page on keys says, do what router_run does', async () => {
    const [statement = ''] = /CREATE ROLE router_run_2 .*;/.exec(textOf('docs/operations/keys.md')) ?? [];
    await tell(server.url, statement.replace('…', 'router_run_2'));
    const second = as('router_run_2');
    expect(await tell(second, 'SELECT ensure_partitions(9) AS missing')).toEqual([{ missing: 0 }]);
    await tell(second, 'UPDATE workspace SET inflight_limit = inflight_limit');
    await expect(tell(second, 'TRUNCATE ledger_entry')).rejects.toThrow(denied);
  });

  it('lets router_scale count waiting runs, and see nothing else', async () => {
    const scale = as('router_scale');
    expect(await tell(scale, 'SELECT workers_wanted(50, 2000)::float8 AS wanted')).toEqual([{ wanted: 0 }]);
    for (const statement of [
      'SELECT * FROM outbox',
      'SELECT * FROM payload',
      'SELECT * FROM api_key',
      'SELECT ensure_partitions(9)',
      'SELECT drop_day(0)',
    ]) {
      await expect(tell(scale, statement)).rejects.toThrow(denied);
    }
  });
});

/** The rows of the last statement. */
async function tell(url: string, ...statements: string[]): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows as typeof rows;
    return rows;
  } finally {
    await client.end();
  }
}

failOnLeftovers();
