import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { loadCatalog } from '#catalog';
import { ApiKeyRepository, WorkspaceRepository } from '#persistence';
import { textOf } from '../documents/checkout-files.js';
import { type App, freePort, spawnApp, type TestServer, withTools } from '../harness/faults.js';
import { operatorDatabase } from '../harness/long-timeouts.js';
import {
  Caller,
  createDatabase,
  failOnLeftovers,
  longTimeouts,
  startRedis,
  temporaryFolder,
  type TestDatabase,
  transports,
} from '../harness/index.js';
import { secret } from '../harness/system-side.js';
import type { Workload } from './objects.js';
import { rendered } from './rendered.js';

const [transport] = transports();
const { describeWith, tools } = await withTools('kubectl');

/** One model per provider, and all models of the provider whose key is a whole account. */
const { models } = await loadCatalog({});
const chosen = new Set([
  ...new Map(models.map((model) => [model.provider, model])).values(),
  ...models.filter(({ provider }) => provider === 'google'),
]);

describeWith('the trial on Kubernetes', () => {
  const apps: App[] = [];
  let database: TestDatabase;
  let redis: TestServer | undefined;
  let caller: Caller;

  beforeAll(async () => {
    database = await createDatabase();
    redis = transport === 'redis' ? await startRedis() : undefined;
    const port = await freePort();
    const keys = temporaryFolder('keys');
    const simulator = await spawnApp('simulator', { SIMULATOR_DEFAULT_MS: '50', SIMULATOR_KEYS_DIR: keys });
    apps.push(simulator);
    await simulator.ready;
    const providers = textOf('k8s/components/trial-providers/providers.env')
      .replaceAll('http://127.0.0.1:8081', simulator.url)
      .replaceAll('http://127.0.0.1:8082', simulator.assetUrl ?? '')
      .replaceAll('/trial-keys', keys);
    const env = {
      ...longTimeouts,
      ...Object.fromEntries(
        [...providers.matchAll(/^([A-Z]\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
      ),
      DATABASE_URL: database.url,
      ...(redis && { REDIS_URL: redis.url }),
      SIGNING_SECRET: secret,
      JWT_SECRET: secret,
      ASSET_DIR: temporaryFolder('assets'),
      ASSET_BASE_URL: `http://127.0.0.1:${port}`,
    };
    const gateway = await spawnApp('gateway', env, { port });
    const worker = await spawnApp('worker', env);
    apps.unshift(gateway, worker);
    await Promise.all([gateway.ready, worker.ready]);

    const store = operatorDatabase(database.url);
    const workspace = await new WorkspaceRepository(store).create('demo', {
      inflightLimit: 100,
      committedLimitMicros: 1_000_000_000,
    });
    const facts = { name: 'test', scopes: ['run' as const, 'catalog' as const], expiresAt: null };
    const { key } = await new ApiKeyRepository(store).create(workspace.id, facts, { actor: 'test' });
    await store.close();
    caller = new Caller(() => [gateway.url], key);
  });

  afterAll(async () => {
    await Promise.all(apps.map((app) => app.stop()));
    await redis?.stop();
    await database.drop();
  });

  it('puts the simulator’s keys where the worker reads them', () => {
    const worker = rendered(tools.kubectl, 'k8s/overlays/dev').find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'worker',
    ) as Workload;
    const { containers, volumes } = worker.spec.template.spec;
    const mounted = (name: string) => containers.find((each) => each.name === name)?.volumeMounts;
    expect(volumes).toContainEqual({ name: 'trial-keys', emptyDir: {} });
    expect(mounted('simulator')).toEqual([{ name: 'trial-keys', mountPath: '/trial-keys' }]);
    expect(mounted('worker')).toContainEqual({
      name: 'trial-keys',
      mountPath: '/trial-keys',
      readOnly: true,
    });
    expect(textOf('k8s/components/trial-providers/providers.env')).toContain(
      '\nPROVIDER_KEYS_DIR=/trial-keys\n',
    );
  });

  it('serves a model of every provider, and every model of google', async () => {
    const refused = await Promise.all(
      [...chosen].map(async ({ id, example }) => {
        const { status } = await caller.call('POST', `/v2/models/${id}`, { body: JSON.stringify(example) });
        return status === 200 ? [] : [`${id}: ${status}`];
      }),
    );
    expect(refused.flat()).toEqual([]);
  });
});

failOnLeftovers();
