import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { chownSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { textOf } from '../../documents/checkout-files.js';
import { freePort, least, startPostgres, type TestServer, withTools } from '../../harness/faults.js';
import {
  Caller,
  failOnLeftovers,
  newTag,
  startRedis,
  temporaryFolder,
  unending,
  waitFor,
} from '../../harness/index.js';
import { ProviderSide } from '../../harness/provider-side.js';
import { systemEnvironment } from '../../harness/system-environment.js';
import { contents } from './contents.js';
import { builtImages, confined, outputOf, podman, variables } from './containers.js';

const { describeWith } = await withTools('podman', 'buildah', 'runc', 'mmdebstrap', 'imageStorage');
const model = 'bfl/flux-2-pro';

const container = (app: string) => `model-router-${process.pid}-${app}`;
const stateOf = (app: string, field: string) =>
  outputOf('inspect', '--format', `{{${field}}}`, container(app));

const healthy = (app: 'gateway' | 'worker') =>
  waitFor(async () => (await podman('healthcheck', 'run', container(app))).code === 0, {
    withinMs: 120_000,
    what: `a healthy ${app}`,
    everyMs: 200,
  });

/** Exceeds its memory limit when it gets the signal. */
const greedy = `process.on('SIGUSR2', () => { const held = []; setInterval(() => held.push(Buffer.alloc(64e6, 1)), 1); });`;

describeWith('containers of the image', () => {
  let image: string;
  let postgres: TestServer;
  let redis: TestServer | undefined;
  let simulator: { url: string; assetUrl: string };
  let database: Client;
  let environment: Record<string, string>;
  let caller: Caller;
  let gatewayUrl: string;
  const internal = { gateway: 0, worker: 0 };
  let assets: string;

  const flags = (env: Record<string, string>) => [
    ...confined,
    `--volume=${assets}:/assets`,
    ...variables({ ...environment, ...env }),
  ];
  const start = (app: 'gateway' | 'worker', env: Record<string, string>, ...more: string[]) =>
    outputOf('run', '--detach', '--name', container(app), ...more, ...flags(env), image, app);
  const once = (words: string[], env = {}) => podman('run', '--rm', ...flags(env), image, ...words);
  const stages = async () =>
    (
      await database.query<{ stage: string; runs: number }>(
        'SELECT stage, count(*)::int AS runs FROM run GROUP BY 1',
      )
    ).rows;

  beforeAll(async () => {
    const images = await builtImages();
    image = images.router;
    assets = path.join(temporaryFolder('volume'), 'assets');
    mkdirSync(assets);
    chownSync(assets, 65532, 65532);
    postgres = await startPostgres();
    if (process.env['TEST_REDIS_SERVER']) redis = await startRedis();
    const ports = { SIMULATOR_PORT: `${await freePort()}`, SIMULATOR_ASSET_PORT: `${await freePort()}` };
    simulator = {
      url: `http://127.0.0.1:${ports.SIMULATOR_PORT}`,
      assetUrl: `http://127.0.0.1:${ports.SIMULATOR_ASSET_PORT}`,
    };
    const env = variables({ ...ports, SIMULATOR_DEFAULT_MS: '200' });
    const named = ['--name', container('simulator')];
    await outputOf('run', '--detach', ...named, ...confined, ...env, images.simulator);
    database = new Client({ connectionString: postgres.url });
    await database.connect();
    gatewayUrl = `http://127.0.0.1:${await freePort()}`;
    internal.gateway = await freePort();
    internal.worker = await freePort();
    const parts = {
      simulator,
      providerKeys: {},
      assets: '/assets',
      assetBaseUrl: gatewayUrl,
      longTimeouts: true,
    };
    environment = systemEnvironment({ databaseUrl: postgres.url, redisUrl: redis?.url, ...parts });
  }, 1_800_000);

  afterAll(async () => {
    const started = ['gateway', 'worker', 'simulator'].map(container);
    await podman('rm', '--force', '--time', '1', ...started);
    await database.end();
    await redis?.stop();
    await postgres.stop();
  });

  it('contains what runs, and no build tools', async () => {
    const root = await outputOf('image', 'mount', image);
    try {
      const { programs, packages, maps, largest, megabytes } = contents(root);
      process.stderr.write(
        `The image has ${megabytes.image} MB, ${megabytes.packages} MB of packages: ${largest.join(', ')}\n`,
      );
      expect(programs).toEqual(['/nodejs/bin/node']);
      const { packages: locked } = JSON.parse(textOf('package-lock.json')) as {
        packages: Record<string, { dev?: true; optional?: true }>;
      };
      const unwanted = packages.filter(
        (name) => locked[name]?.dev ?? locked[name]?.optional ?? !locked[name],
      );
      expect(unwanted).toEqual([]);
      expect(maps).toEqual([]);
      expect(megabytes.packages).toBeLessThan(45);
      expect(megabytes.image).toBeLessThan(200);
    } finally {
      await podman('image', 'unmount', image);
    }
  });

  it('migrate the schema, once', async () => {
    expect(await once(['admin', 'migrate'])).toMatchObject({ code: 0 });
    expect((await once(['admin', 'migrate'])).stdout).toBe('The schema is already up to date.\n');
  });

  it('become healthy, and report when they are not', async () => {
    const port = new URL(gatewayUrl).port;
    await start('gateway', { PORT: port, HOST: '127.0.0.1', INTERNAL_PORT: `${internal.gateway}` });
    const env = {
      INTERNAL_PORT: `${internal.worker}`,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(greedy)}`,
    };
    await start('worker', env, '--restart', 'on-failure');
    await healthy('gateway');
    await healthy('worker');
    const elsewhere = ['exec', '--env', `INTERNAL_PORT=${await freePort()}`, container('gateway')];
    expect(await podman(...elsewhere, 'node', 'docker/health.mjs')).toMatchObject({ code: 1 });
  });

  it('run the operator’s commands', async () => {
    const admin = ['exec', container('gateway'), 'node', 'docker/entry.mjs', 'admin'];
    await outputOf(...admin, 'workspace', 'create', 'demo');
    const key = await outputOf(...admin, '--json', 'key', 'create', '--workspace', 'demo');
    caller = new Caller(() => [gatewayUrl], (JSON.parse(key) as { key: string }).key);
  });

  it('serve a run and its copied asset', async () => {
    const result = await caller.call('POST', `/v2/models/${model}`, { body: '{"prompt":"a cat"}' });
    expect(result.status).toBe(200);
    const { sample } = result.json()['result'] as { sample: string };
    expect(new URL(sample).origin).toBe(gatewayUrl);
    expect((await fetch(sample)).status).toBe(200);
  });

  it.each(['/docs', '/openapi.json', '/llms.txt', '/console'])(
    'serve %s, which no import mentions',
    async (page) => expect((await fetch(`${gatewayUrl}${page}`)).status).toBe(200),
  );

  it('have no privileges and no shell, and can write only to the volume', async () => {
    const said = 'process.getuid() + ":" + process.getgid()';
    const exec = ['exec', container('gateway'), 'node'];
    expect(await outputOf(...exec, '--print', said)).toBe('65532:65532');
    const files = ['/app/file', '/tmp/file', '/file', '/assets/file'];
    const writing = `for (const file of ${JSON.stringify(files)}) try { fs.writeFileSync(file, ''); console.log(file) } catch {}`;
    expect(await outputOf(...exec, '--eval', writing)).toBe('/assets/file');
    expect((await podman('exec', container('gateway'), 'sh', '-c', 'true')).code).not.toBe(0);
  });

  it('lose no run when one hits its memory limit, and are restarted', async () => {
    const tag = newTag('memory');
    const provider = new ProviderSide(simulator);
    const body = JSON.stringify({ prompt: `a cat [[sim:tag=${tag}]]${unending}` });
    const runs = await Promise.all(Array.from({ length: 8 }, () => caller.submit(model, body)));
    const expected = [
      { stage: 'parked', runs: 3 },
      { stage: 'running', runs: 5 },
    ];
    const submitted = async () => {
      const found = (await stages()).filter(({ stage }) => stage !== 'completed');
      return (
        JSON.stringify(found.sort((a, b) => a.stage.localeCompare(b.stage))) === JSON.stringify(expected)
      );
    };
    await waitFor(submitted, { withinMs: 60_000, what: 'five runs at the provider', everyMs: 100 });

    await outputOf('kill', '--signal', 'SIGUSR2', container('worker'));
    await waitFor(async () => Number(await stateOf('worker', '.RestartCount')) > 0, {
      withinMs: 120_000,
      what: 'a restart',
      everyMs: 200,
    });
    const died = ['--filter', 'event=died', '--filter', `container=${container('worker')}`];
    const events = await outputOf(
      'events',
      '--stream=false',
      '--since',
      '10m',
      '--format',
      '{{.ContainerExitCode}}',
      ...died,
    );
    expect(events.split('\n')).toEqual(['137']);
    await healthy('worker');

    const finished = async () => {
      await provider.finish(tag);
      return (await stages()).every(({ stage }) => stage === 'completed');
    };
    await waitFor(finished, { withinMs: 120_000, what: 'all runs to end', everyMs: 500 });
    for (const run of runs) expect((await caller.collect(run)).status).toBe(200);
    expect((await provider.ledger(tag)).length).toBe(runs.length);
  });

  it.each(['gateway', 'worker'] as const)(
    'stop a %s within 10 s of SIGTERM, with exit code 0',
    async (app) => {
      const took = await least(10_000, async (attempt) => {
        if (attempt > 1) {
          await outputOf('start', container(app));
          await healthy(app);
        }
        const began = performance.now();
        await outputOf('stop', '--time', '60', container(app));
        return performance.now() - began;
      });
      expect(took).toBeLessThan(10_000);
      expect(await stateOf(app, '.State.ExitCode')).toBe('0');
    },
  );
});

failOnLeftovers();
