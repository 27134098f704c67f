import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort, System } from '../../harness/faults.js';
import { failOnLeftovers, waitFor } from '../../harness/index.js';
import { type Container, container, nearness } from './contained.js';
import { type Image, layOut } from './laid-out.js';

const near = nearness();
if (near !== 'alone with the image, read-only') {
  if (near === 'as oneself' && process.env['NO_SKIP'] === '1') {
    throw new Error('NO_SKIP=1, and only root can start a process as another user');
  }
  process.stderr.write(`The image's files are run ${near}: this machine lets nobody mount\n`);
}
const describeAsAnother = near === 'as oneself' ? describe.skip : describe;
const describeAlone = near === 'alone with the image, read-only' ? describe : describe.skip;

describe('the files of the image', () => {
  let folder: string;
  let image: Image;
  let inside: Container;
  let system: System;
  const children: ChildProcess[] = [];

  const environment = (more: Record<string, string> = {}) => ({
    ...system.env(),
    ASSET_DIR: inside.assets,
    ...more,
  });
  const start = (app: string, more: Record<string, string>) =>
    children.push(inside.start([...image.entrypoint, app], environment(more)));
  const run = (words: string[], more?: Record<string, string>) => inside.run(words, environment(more));

  beforeAll(async () => {
    // Another user has to reach it, and the folder of the run is closed to all but its own.
    folder = mkdtempSync(path.join(os.tmpdir(), 'model-router-image-'));
    chmodSync(folder, 0o755);

    image = layOut('docker/Dockerfile', 'router', folder);
    inside = container(image, near);

    system = await System.start({ transport: 'postgres', gateways: 0, workers: 0 });
  });

  afterAll(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    await system.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are enough for gateway, worker and admin to serve a run and its assets', async () => {
    const [port, gatewayInternal, workerInternal] = await Promise.all([freePort(), freePort(), freePort()]);
    const base = `http://127.0.0.1:${port}`;
    start('gateway', { PORT: `${port}`, INTERNAL_PORT: `${gatewayInternal}`, ASSET_BASE_URL: base });
    start('worker', { INTERNAL_PORT: `${workerInternal}`, ASSET_BASE_URL: base });
    for (const internal of [gatewayInternal, workerInternal]) {
      const ready = async () => (await fetch(`http://127.0.0.1:${internal}/health/ready`)).ok;
      await waitFor(ready, { withinMs: 90_000, what: 'an app that is ready', everyMs: 100 });
      // It gives an app four seconds, which a container's runtime does more than once.
      const isHealthy = () =>
        run(['node', 'docker/health.mjs'], { INTERNAL_PORT: `${internal}` }).status === 0;
      await waitFor(isHealthy, { withinMs: 60_000, what: 'an app that is healthy', everyMs: 100 });
    }

    expect(run([...image.entrypoint, 'admin', 'migrate'])).toEqual({
      status: 0,
      stdout: 'The schema was up to date already.\n',
      stderr: '',
    });

    const caller = await system.caller();
    const model = 'bfl/flux-2-pro';
    const result = await caller.call('POST', `${base}/v2/models/${model}`, { body: '{"prompt":"a cat"}' });
    expect(result.status).toBe(200);
    const { sample } = result.json()['result'] as { sample: string };
    expect(new URL(sample).origin).toBe(base);
    expect((await fetch(sample)).status).toBe(200);
  }, 400_000);

  describeAsAnother('as the user of the image', () =>
    it('have no rights', () => {
      const said = run([
        'node',
        '--print',
        'process.getuid() + ":" + process.getgid() + ":" + process.getgroups()',
      ]);
      expect(said).toEqual({ status: 0, stdout: '65532:65532:65532\n', stderr: '' });
      expect(run(writing('/app/file', 'dist/libs/file', 'package.json')).stdout).toBe('');
    }),
  );

  describeAlone('and nothing else', () =>
    it('leave only the volume to write to, and no shell', () => {
      expect(run(writing('/app/file', '/tmp/file', '/file', '/assets/file')).stdout).toBe('/assets/file\n');
      const shell = 'require("node:child_process").spawnSync("sh", ["-c", "true"]).error.code';
      expect(run(['node', '--print', shell]).stdout).toBe('ENOENT\n');
    }),
  );

  it.each([
    ['what the apps share', 'dist/libs', 'ERR_MODULE_NOT_FOUND'],
    ['a package', 'node_modules/pg', 'ERR_MODULE_NOT_FOUND'],
    ['package.json', 'package.json', 'ERR_'],
    ['the rows of the models', 'libs/providers', 'ENOENT'],
  ])('would not do without %s', (_, missing, complaint) => {
    const place = path.join(image.root, image.workdir, missing);
    renameSync(place, `${folder}/aside`);
    try {
      const { status, stderr } = run([...image.entrypoint, 'admin', 'catalog', 'check']);
      expect(stderr).toContain(complaint);
      expect(status).not.toBe(0);
    } finally {
      renameSync(`${folder}/aside`, place);
    }
  });

  it('say so when a container that is asked for has no such app, or is not ready', async () => {
    expect(run([...image.entrypoint, 'simulator'])).toEqual({
      status: 2,
      stdout: '',
      stderr: 'There is no app "simulator" in this image: name gateway, worker or admin\n',
    });
    const nobody = await freePort();
    expect(run(['node', 'docker/health.mjs'], { INTERNAL_PORT: `${nobody}` }).status).toBe(1);
  });
});

/** A program that says which of the files it could write. */
const writing = (...files: string[]): string[] => [
  'node',
  '--eval',
  `for (const file of ${JSON.stringify(files)}) {
    try { require("node:fs").writeFileSync(file, ""); console.log(file); } catch {}
  }`,
];

failOnLeftovers();
