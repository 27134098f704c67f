import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../apps/local/src/embedded/ports.js';
import { filesBelow, pathOf } from '../documents/checkout-files.js';
import { failOnLeftovers, fileGuard, System, temporaryFolder, waitFor } from '../harness/index.js';

interface Locked {
  packages: Record<string, { dev?: true; optional?: true; devOptional?: true }>;
}

/** What the image holds, laid out in a folder; packages are links to the installed ones. */
function layOut(folder: string): void {
  for (const file of ['package.json', 'docker/entry.mjs', 'docker/health.mjs']) {
    cpSync(pathOf(file), path.join(folder, file));
  }
  for (const part of ['libs', 'apps/gateway', 'apps/worker', 'apps/admin']) {
    cpSync(pathOf(`dist/${part}`), path.join(folder, 'dist', part), { recursive: true });
  }
  const rows = filesBelow('libs/providers/src/providers').filter((name) =>
    /\/models\/[^/]+\.yaml$/.test(name),
  );
  for (const row of rows) cpSync(pathOf(row), path.join(folder, row));
  const { packages } = JSON.parse(readFileSync(pathOf('package-lock.json'), 'utf8')) as Locked;
  for (const [name, { dev, optional, devOptional }] of Object.entries(packages)) {
    // Packages below another one come along with it.
    if (!/^node_modules\/(@[^/]+\/)?[^/]+$/.test(name) || dev || optional || devOptional) continue;
    const link = path.join(folder, name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(pathOf(name), link);
  }
}

describe('the files of the image', () => {
  let folder: string;
  let system: System;
  const children: ChildProcess[] = [];
  // A linked package finds its own dependencies in this folder, not beside its target.
  const flags = ['--preserve-symlinks', '--preserve-symlinks-main'];

  const environment = (more: Record<string, string>) => ({
    PATH: process.env['PATH'] ?? '',
    NODE_ENV: 'production',
    ...system.env(),
    ...more,
  });

  function start(app: string, more: Record<string, string>): void {
    const child = spawn(process.execPath, [...flags, 'docker/entry.mjs', app], {
      cwd: folder,
      env: environment(more),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    fileGuard().watch(child);
    children.push(child);
  }

  function run(script: string, words: string[], more: Record<string, string>) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, script, ...words], {
      cwd: folder,
      env: environment(more),
      encoding: 'utf8',
      timeout: 30_000,
    });
    return { status, stdout, stderr };
  }

  beforeAll(async () => {
    folder = temporaryFolder('image');
    layOut(folder);
    system = await System.start({ transport: 'postgres', gateways: 0, workers: 0 });
  }, 60_000);

  afterAll(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    await system.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  it('are enough for gateway, worker and admin to serve a run', async () => {
    const [gateway, gatewayInternal, workerInternal] = await Promise.all([
      freePort(),
      freePort(),
      freePort(),
    ]);
    start('gateway', { PORT: String(gateway), INTERNAL_PORT: String(gatewayInternal) });
    start('worker', { INTERNAL_PORT: String(workerInternal) });
    for (const port of [gatewayInternal, workerInternal]) {
      await waitFor(() => run('docker/health.mjs', [], { INTERNAL_PORT: String(port) }).status === 0, {
        withinMs: 30_000,
        what: 'a health check that passes',
        everyMs: 200,
      });
    }
    expect(run('docker/entry.mjs', ['admin', 'migrate'], {})).toEqual({
      status: 0,
      stdout: 'The schema was up to date already.\n',
      stderr: '',
    });

    const caller = await system.caller();
    const base = `http://127.0.0.1:${gateway}`;
    const model = 'bfl/flux-2-pro';
    const submitted = await caller.call('POST', `${base}/v2/models/${model}/requests`, {
      body: '{"prompt":"a cat"}',
    });
    expect(submitted.status).toBe(201);
    const collect = `${base}/v2/models/${model}/requests/${String(submitted.json()['request_id'])}`;
    const result = await waitFor(
      async () => {
        const answer = await caller.call('GET', collect);
        return answer.status === 200 && answer.json();
      },
      { withinMs: 30_000, what: 'the result', everyMs: 200 },
    );
    expect(result).toMatchObject({ status: 'Ready' });
  });

  it('say so when a container that is asked for has no such app, or is not ready', async () => {
    expect(run('docker/entry.mjs', ['simulator'], {})).toEqual({
      status: 2,
      stdout: '',
      stderr: 'There is no app "simulator" in this image: name gateway, worker or admin\n',
    });
    const nobody = await freePort();
    expect(run('docker/health.mjs', [], { INTERNAL_PORT: String(nobody) }).status).toBe(1);
  });
});

failOnLeftovers();
