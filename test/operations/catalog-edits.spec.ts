import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { builtInDirectories } from '#catalog';
import { revisionOf } from '../../libs/catalog/src/load-catalog.js';
import { runAdmin } from '../admin/run-admin.js';
import { Lab } from '../catalog/lab.js';
import { polled, provider, row } from '../catalog/own-rows.js';
import { metric } from '../faults/metrics.js';
import { holdToInvariants, System } from '../harness/faults.js';
import { type Caller, failOnLeftovers, temporaryFolder, transports, waitFor } from '../harness/index.js';

interface Status {
  agreed: boolean;
  processes: { app: string; revision: string; problem?: string }[];
}

describe.each(transports().slice(0, 1))('the catalog directory of a running system on %s', (transport) => {
  let system: System;
  let upstream: Lab;
  let caller: Caller;
  let pids: number[];
  const rows = temporaryFolder('catalog');
  const keys = temporaryFolder('keys');
  const put = (file: string, text: string) => writeFileSync(path.join(rows, file), text);
  const running = () => system.apps.map(({ pid }) => pid);
  const readings = () =>
    Promise.all(
      system.apps.map((app) => metric(app, 'router_catalog_readings_total', { result: 'unchanged' })),
    );

  const status = async (): Promise<Status & { code: number | null }> => {
    const { code, out, error } = await runAdmin(system.env(), 'catalog', 'status', '--json');
    if (out === '') throw new Error(error);
    return { code, ...(JSON.parse(out) as Status) };
  };
  /** The catalog state that the processes report. */
  const said = () =>
    system.sql<{ revision: string; problem: string | null }>(
      'SELECT catalog_revision AS revision, catalog_problem AS problem FROM process',
    );
  /** Waits until gateway and worker use the current files of the directory. */
  const renewed = async (): Promise<void> => {
    const wanted = await revisionOf([...builtInDirectories(), rows]);
    await waitFor(
      async () => {
        const processes = await said();
        return (
          processes.length === 2 &&
          processes.every(({ revision, problem }) => revision === wanted && problem === null)
        );
      },
      { withinMs: 60_000, what: 'both processes to use the files of the directory', everyMs: 100 },
    );
  };

  beforeAll(async () => {
    upstream = await Lab.start();
    system = await System.start({
      transport,
      env: { CATALOG_DIR: rows, PROVIDER_KEYS_DIR: keys, CATALOG_POLL_MS: '300' },
    });
    caller = await system.caller();
    pids = running();
    await renewed();
    writeFileSync(path.join(keys, 'lab'), 'first-key');
    put('lab.yaml', provider('lab', upstream.url, polled));
    put('lab-paint.yaml', row('lab/paint', 'v1/paint', 1_000));
    await renewed();
  });
  afterAll(async () => {
    await system.stop();
    await upstream.stop();
  });

  const painted = (prompt: string) =>
    caller.call('POST', '/v2/models/lab/paint', { body: JSON.stringify({ prompt }) });

  it('keeps the running revision after a bad edit, and reports the problem until it is fixed', async () => {
    const good = await status();
    expect([good.code, good.agreed, good.processes.map(({ app }) => app)]).toEqual([
      0,
      true,
      ['gateway', 'worker'],
    ]);
    put('lab-paint.yaml', row('lab/paint', 'v2/paint', 1).replace('type: string', 'type: sting'));
    await waitFor(async () => (await said()).every(({ problem }) => problem !== null), {
      withinMs: 60_000,
      what: 'both processes to reject the edit',
      everyMs: 100,
    });
    const bad = await status();
    expect([bad.code, bad.agreed]).toEqual([1, true]);
    expect(bad.processes.map(({ revision }) => revision)).toEqual(
      good.processes.map(({ revision }) => revision),
    );
    expect(bad.processes[0]?.problem).toContain(
      'lab-paint.yaml#/input/properties/prompt/type: "sting" is not a type',
    );
    const [gateway] = system.gateways;
    if (gateway === undefined) throw new Error('no gateway runs');
    expect(await metric(gateway, 'router_catalog_readings_total', { result: 'refused' })).toBeGreaterThan(0);
    await waitFor(() => gateway.logs().includes('the catalog could not be reloaded'), {
      withinMs: 20_000,
      what: 'the log line about the edit',
    });
    const answer = await painted('as before');
    expect([answer.status, upstream.submissions.at(-1)?.path]).toEqual([200, '/v1/paint']);

    put('lab-paint.yaml', row('lab/paint', 'v1/paint', 1_000));
    await renewed();
    expect((await status()).code).toBe(0);
  });

  it('is read again on SIGHUP, including a renewed key', async () => {
    const before = await readings();
    expect([
      (await painted('with the first key')).status,
      upstream.submissions.at(-1)?.headers['x-lab-key'],
    ]).toEqual([200, 'first-key']);
    writeFileSync(path.join(keys, 'lab'), 'second-key');
    await Promise.all(system.apps.map((app) => app.kill('SIGHUP')));
    await waitFor(async () => (await readings()).every((count, index) => count > (before[index] ?? 0)), {
      withinMs: 30_000,
      what: 'both to read the directory again',
      everyMs: 100,
    });
    // A reload that had already begun may be the counted one.
    await waitFor(
      async () => {
        await painted('with the new key');
        return upstream.submissions.at(-1)?.headers['x-lab-key'] === 'second-key';
      },
      { withinMs: 20_000, what: 'the new key to be used' },
    );
  });

  it('hides a model while its runs continue', async () => {
    upstream.holding = true;
    const run = await caller.submit('lab/paint', '{"prompt":"hidden meanwhile"}');
    put('lab-paint.yaml', 'id: fal/flux-dev\nhidden: true\n');
    rmSync(path.join(rows, 'lab.yaml'));
    await renewed();
    for (const id of ['fal/flux-dev', 'lab/paint']) {
      expect((await caller.call('GET', `/v2/models/${id}`)).bucket).toBe('model_not_found');
    }
    upstream.holding = false;
    expect(await caller.completed(run)).not.toHaveProperty('error_type');
    expect(running()).toEqual(pids);
    await holdToInvariants(system);
  });
});

failOnLeftovers();
