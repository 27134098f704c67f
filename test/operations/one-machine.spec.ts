import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gatewaySettings } from '../../apps/gateway/src/settings.js';
import { checkout } from '../../apps/local/src/checkout.js';
import { workerSettings } from '../../apps/worker/src/settings.js';
import { filesBelow, pathOf, textOf } from '../documents/checkout-files.js';
import { freePort, System, withTools } from '../harness/faults.js';
import {
  Caller,
  failOnLeftovers,
  newTag,
  openEvents,
  temporaryFolder,
  type TestCaller,
  trackChild,
  unending,
  waitFor,
} from '../harness/index.js';
import { openLogFile } from '../harness/log-file.js';
import { folder, Unit, variablesOf } from './units.js';

const { describeWith, tools } = await withTools('systemd-analyze');
const proxies = await withTools('caddy', 'nginx');
const names = ['migrate.service', 'gateway@.service', 'worker@.service'].map(
  (name) => `model-router-${name}`,
);
const appUnits = names.filter((name) => name.includes('@'));
const model = 'bfl/flux-2-pro';
const mebibyte = 1024 * 1024;
const migration = new Unit('model-router-migrate.service');

describeWith('systemd units', () => {
  let copies: string;
  beforeAll(() => {
    copies = temporaryFolder('units');
    mkdirSync(copies, { recursive: true });
    for (const name of names) write(name, textOf(`${folder}/${name}`));
  });
  afterAll(() => rmSync(copies, { recursive: true }));

  // Node is installed elsewhere on this machine.
  const write = (name: string, text: string) =>
    writeFileSync(path.join(copies, name), text.replace('/usr/bin/node', process.execPath));
  const analyze = (...words: string[]) =>
    spawnSync(tools['systemd-analyze'], words, { encoding: 'utf8', cwd: copies, timeout: 60_000 });
  const problems = () =>
    analyze('verify', '--man=no', ...names.map((name) => `./${name}`))
      .stderr.split('\n')
      .filter((line) => line.includes('model-router'));

  it('are those of the folder, except the backup’s', () =>
    expect(
      filesBelow(folder)
        .map((name) => path.basename(name))
        .filter((name) => name.endsWith('.service') && !name.includes('-backup'))
        .sort(),
    ).toEqual([...names].sort()));

  it('are valid, and a misspelt directive would be reported', () => {
    expect(problems()).toEqual([]);
    write(
      'model-router-worker@.service',
      textOf(`${folder}/model-router-worker@.service`).replace('MemoryMax', 'MemoryMaximum'),
    );
    expect(problems().join()).toContain("'MemoryMaximum'");
    write('model-router-worker@.service', textOf(`${folder}/model-router-worker@.service`));
  });

  it.each(names)('%s is rated as hardened', (name) => {
    const { status, stdout } = analyze('security', '--offline=true', '--threshold=15', `./${name}`);
    expect({ status, stdout }).toMatchObject({ status: 0 });
    expect(stdout).toMatch(/Overall exposure level for .*: 1\.1 OK/);
  });
});

describe('the files for systemd', () => {
  const known = new Set([
    ...Object.keys({ ...gatewaySettings, ...workerSettings }),
    'NODE_ENV',
    'NODE_OPTIONS',
    'NODE_EXTRA_CA_CERTS',
  ]);
  const unknown = (variables: string[]) => variables.filter((name) => !known.has(name));

  it.each(['model-router.env', 'worker.env', 'migrate.env'])('%s sets only settings that exist', (file) => {
    expect(variablesOf(file).length).toBeGreaterThan(0);
    expect(unknown(variablesOf(file))).toEqual([]);
  });

  it.each(names)(
    '%s sets only settings that exist, and limits the heap to three quarters of its memory',
    (name) => {
      const unit = new Unit(name, '1');
      expect(unknown(Object.keys(unit.environment))).toEqual([]);
      const [, number, letter] = /^(\d+)([MG])$/.exec(unit.one('MemoryMax')) ?? [];
      const limitMiB = Number(number) * (letter === 'G' ? 1024 : 1);
      expect(unit.environment['NODE_OPTIONS']).toBe(`--max-old-space-size=${0.75 * limitMiB}`);
    },
  );

  it.each(appUnits)('%s allows as long for a stop as its settings, and 30 s', (name) => {
    const unit = new Unit(name);
    const setting = name.includes('gateway') ? 'CLOSE_TIMEOUT_MS' : 'WORKER_CLOSE_MS';
    expect(Number(unit.one('TimeoutStopSec'))).toBe(Number(unit.environment[setting]) / 1000 + 30);
  });

  it('have ports for metrics that are known in advance, and none that callers reach', () => {
    expect(new Unit('model-router-gateway@.service', '8080').environment).toMatchObject({
      HOST: '127.0.0.1',
      PORT: '8080',
      INTERNAL_HOST: '127.0.0.1',
      INTERNAL_PORT: '18080',
    });
    expect(new Unit('model-router-worker@.service', '1').environment).toMatchObject({
      INTERNAL_HOST: '127.0.0.1',
      INTERNAL_PORT: '19091',
    });
  });
});

interface Process {
  port: number;
  child: ChildProcess;
}

const answering = (base: string, what: string) =>
  waitFor(
    () =>
      fetch(`${base}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    { withinMs: 90_000, what: `${what} to be ready` },
  );

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** A proxy with the configuration of docs/operations/systemd. */
class Proxy {
  readonly folder = temporaryFolder('proxy');
  private child: ChildProcess | undefined;

  constructor(
    private readonly kind: 'caddy' | 'nginx',
    readonly port: number,
    private readonly upstreams: readonly number[],
  ) {
    mkdirSync(this.folder, { recursive: true });
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The page's file with the ports of this test, without TLS. */
  configuration(): string {
    const [first = 0, second = 0] = this.upstreams;
    const text = textOf(`${folder}/${this.kind === 'caddy' ? 'Caddyfile' : 'nginx.conf'}`)
      .replace('127.0.0.1:8080', `127.0.0.1:${first}`)
      .replace('127.0.0.1:8081', `127.0.0.1:${second}`);
    if (this.kind === 'caddy')
      return `{\n\tadmin off\n}\n${text.replace('router.example.com {', `http://127.0.0.1:${this.port} {`)}`;
    return this.nginx(
      text
        .replace('listen 443 ssl http2;', `listen 127.0.0.1:${this.port};`)
        .replaceAll(/ssl_certificate.*;/g, ''),
    );
  }

  nginx(server: string): string {
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${this.folder}/${name};`,
    );
    return `daemon off;\npid ${this.folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${server}\n}\n`;
  }

  words(file: string): string[] {
    return this.kind === 'caddy'
      ? ['run', '--adapter', 'caddyfile', '--config', file]
      : ['-p', this.folder, '-e', 'stderr', '-c', file];
  }

  async start(): Promise<void> {
    const file = path.join(this.folder, 'configuration');
    writeFileSync(file, this.configuration());
    this.child = spawn(proxies.tools[this.kind], this.words(file), {
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], HOME: this.folder },
    });
    trackChild(this.child, this.kind);
    await answering(this.url, this.kind);
  }

  async stop(): Promise<void> {
    if (this.child) await ended(this.child);
    rmSync(this.folder, { recursive: true });
  }
}

proxies.describeWith('the files of the proxies', () => {
  it('are valid, with certificates', () => {
    const proxy = new Proxy('nginx', 0, []);
    const [crt, key] = ['tls.crt', 'tls.key'].map((name) => path.join(proxy.folder, name));
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-subj',
        '/CN=router.example.com',
        '-keyout',
        `${key}`,
        '-out',
        `${crt}`,
      ],
      { stdio: 'pipe' },
    );
    const text = textOf(`${folder}/nginx.conf`)
      .replace('/etc/ssl/router.example.com.crt', `${crt}`)
      .replace('/etc/ssl/private/router.example.com.key', `${key}`);
    const file = path.join(proxy.folder, 'configuration');
    writeFileSync(file, proxy.nginx(text));
    const nginx = spawnSync(proxies.tools.nginx, ['-t', ...proxy.words(file)], { encoding: 'utf8' });
    expect(nginx).toMatchObject({ status: 0, stderr: expect.stringContaining('test is successful') });
    const caddy = spawnSync(
      proxies.tools.caddy,
      ['adapt', '--validate', '--adapter', 'caddyfile', '--config', pathOf(`${folder}/Caddyfile`)],
      { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: proxy.folder } },
    );
    expect(caddy).toMatchObject({ status: 0 });
    rmSync(proxy.folder, { recursive: true });
  });
});

proxies.describeWith('the commands of the units, behind a proxy', () => {
  let system: System;
  let caller: TestCaller;
  const gateways: Process[] = [];
  let worker: Process;

  /** Starts what a unit would start, with the settings of this test. */
  async function start(name: string, at?: number): Promise<Process> {
    const port = at ?? (await freePort());
    const internalPort = await freePort();
    const unit = new Unit(name, `${port}`);
    const [program, ...words] = unit.command;
    expect(program).toBe('/usr/bin/node');
    const log = openLogFile(name);
    const child = spawn(process.execPath, words, {
      cwd: checkout,
      stdio: ['ignore', log.descriptor, log.descriptor],
      env: {
        PATH: process.env['PATH'],
        ...unit.environment,
        ...system.env(),
        PORT: `${port}`,
        INTERNAL_PORT: `${internalPort}`,
      },
    });
    closeSync(log.descriptor);
    trackChild(child, name);
    await answering(`http://127.0.0.1:${internalPort}`, name).catch((cause: unknown) => {
      throw new Error(`${String(cause)}; its log ends with:\n${log.file.read().slice(-2_000)}`, { cause });
    });
    return { port, child };
  }

  beforeAll(async () => {
    system = await System.start({ transport: 'postgres', gateways: 0, workers: 0 });
    const migrated = spawnSync(process.execPath, migration.command.slice(1), {
      cwd: checkout,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...migration.environment, DATABASE_URL: system.database.url },
    });
    if (migrated.status !== 0) throw new Error(migrated.stderr);
    gateways.push(await start('model-router-gateway@.service'), await start('model-router-gateway@.service'));
    worker = await start('model-router-worker@.service');
    caller = await system.caller();
  });
  afterAll(async () => {
    for (const { child } of [...gateways, worker]) await ended(child);
    await system.stop();
  });
  failOnLeftovers();

  describe.each(['caddy', 'nginx'] as const)('%s', (kind) => {
    let proxy: Proxy;
    let through: Caller;
    beforeAll(async () => {
      proxy = new Proxy(
        kind,
        await freePort(),
        gateways.map(({ port }) => port),
      );
      await proxy.start();
      through = new Caller(() => [proxy.url], caller.key);
    });
    afterAll(() => proxy.stop());

    it('passes a stream on event by event', async () => {
      const tag = newTag(kind);
      const run = await through.submit(model, JSON.stringify({ prompt: `[[sim:tag=${tag}]] ${unending}` }));
      const stream = await openEvents(
        `${proxy.url}/v2/models/${model}/requests/${run.requestId}/status/stream`,
        {
          'x-api-key': caller.key,
        },
      );
      const isInProgress = () => stream.events.at(-1)?.data['status'] === 'IN_PROGRESS';
      await waitFor(isInProgress, { withinMs: 60_000, what: 'the event of a run in progress' });
      const isSubmitted = async () => (await system.provider.ledger(tag)).length > 0;
      await waitFor(isSubmitted, { withinMs: 60_000, what: 'the provider to accept the run' });
      expect((await through.status(run)).json()['status']).not.toBe('COMPLETED');
      await system.provider.finish(tag);
      const isCompleted = () => stream.events.at(-1)?.data['status'] === 'COMPLETED';
      await waitFor(isCompleted, { withinMs: 60_000, what: 'the last event' });
      expect(await stream.ended).toBe(true);
    });

    const upload = (bytes: number) =>
      fetch(`${proxy.url}/v2/files`, {
        method: 'POST',
        headers: { 'x-api-key': caller.key, 'content-type': 'video/mp4' },
        body: Buffer.alloc(bytes, 1),
      });

    it('passes a large file on, and rejects one above the limit', async () => {
      const stored = await upload(60 * mebibyte);
      expect([stored.status, (await stored.json()) as object]).toEqual([
        201,
        expect.objectContaining({ size: 60 * mebibyte }),
      ]);
      const refused = await upload(112 * mebibyte).then(
        ({ status }) => status,
        () => 'closed',
      );
      expect([413, 'closed']).toContain(refused);
    });

    it('takes the other gateway while one restarts', async () => {
      const [first] = gateways;
      if (first) await ended(first.child);
      for (let index = 0; index < 20; index += 1)
        expect((await through.call('GET', '/v2/models?limit=1')).status).toBe(200);
      gateways[0] = await start('model-router-gateway@.service', first?.port);
    });
  });
});
