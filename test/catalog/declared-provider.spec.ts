import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { builtInDirectories, revisionOf } from '#catalog';
import { runAdmin } from '../admin/run-admin.js';
import {
  type App,
  type Caller,
  failOnLeftovers,
  holdToInvariants,
  System,
  temporaryFolder,
  transports,
  waitFor,
} from '../harness/index.js';
import { OwnPartner } from './own-partner.js';

interface Status {
  agreed: boolean;
  processes: { app: string; revision: string; problem?: string }[];
}

const provider = (name: string, base: string, more: string) => `
provider: ${name}
base: ${base}
auth: { x-lab-key: '{secret}' }
submit: { url: '{base}/{upstream.path}' }
${more}`;

const polled = `
handle:
  id: { at: /job/id }
poll:
  url: '{base}/jobs/{id}'
  status: /state
  life: { BUSY: running, FINE: succeeded, BAD: failed }
  every_seconds: 0.1
fetch: { url: '{base}/jobs/{id}/result' }
`;

const row = (id: string, upstream: string, micros: number) => `
id: ${id}
upstream: { path: ${upstream} }
charges_on_policy_rejection: no
price: { call: ${micros} }
input: { type: object, required: [prompt], properties: { prompt: { type: string }, seed: { type: [integer, 'null'] } } }
example: { prompt: a cat }
`;

const readings = async (app: App, result: string): Promise<number> => {
  const text = await (await fetch(`${app.internalUrl}/metrics`)).text();
  return Number(
    new RegExp(`^router_catalog_readings_total\\{result="${result}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0,
  );
};

describe.each(transports().slice(0, 1))('a catalog directory of a running system on %s', (transport) => {
  let system: System;
  let partner: OwnPartner;
  let caller: Caller;
  let pids: number[];
  const rows = temporaryFolder('catalog');
  const keys = temporaryFolder('keys');
  const put = (file: string, text: string) => writeFileSync(path.join(rows, file), text);
  const running = () => system.apps.map(({ pid }) => pid);

  const status = async (): Promise<Status & { code: number | null }> => {
    const { code, out, error } = await runAdmin(system.env(), 'catalog', 'status', '--json');
    if (out === '') throw new Error(error);
    return { code, ...(JSON.parse(out) as Status) };
  };
  /** What the processes say about themselves. */
  const said = () =>
    system.sql<{ revision: string; problem: string | null }>(
      'SELECT catalog_revision AS revision, catalog_problem AS problem FROM process',
    );
  /** Waits until the gateway and the worker run what lies in the directory now. */
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
      { withinMs: 60_000, what: 'both processes to run what lies in the directory', everyMs: 100 },
    );
  };

  beforeAll(async () => {
    partner = await OwnPartner.start();
    system = await System.start({
      transport,
      env: { CATALOG_DIR: rows, PROVIDER_KEYS_DIR: keys, CATALOG_POLL_MS: '300' },
    });
    caller = await system.caller({ windowLimit: 100_000 });
    pids = running();
  });
  afterAll(async () => {
    await system.stop();
    await partner.stop();
  });

  it('runs a provider that is declared in it: polled, at once, and with a file; synchronous and queued', async () => {
    await renewed();
    writeFileSync(path.join(keys, 'lab'), 'key-of-the-lab\n');
    put('lab.yaml', provider('lab', partner.url, polled));
    put('fast.yaml', provider('fast', partner.url, 'files: true\n'));
    put('lab-paint.yaml', row('lab/paint', 'v1/paint', 1_000));
    put('fast-echo.yaml', row('fast/echo', 'now/echo', 1_000));
    put('fast-speak.yaml', row('fast/speak', 'sound/speak', 1_000));
    await renewed();

    const body = '{ "prompt": "a cat", "seed": 18446744073709551615.0 }';
    const synchronous = await caller.call('POST', '/v2/models/lab/paint', { body });
    expect([synchronous.status, synchronous.bytes.toString()]).toEqual([200, `{"made of": ${body} }`]);
    const queued = await caller.submit('lab/paint', body);
    await caller.completed(queued);
    expect((await caller.collect(queued)).bytes.toString()).toBe(`{"made of": ${body} }`);
    const echo = await caller.call('POST', '/v2/models/fast/echo', { body });
    expect(echo.bytes.toString()).toBe(`{"echo": ${body}}`);
    const sound = await caller.submit('fast/speak', body);
    await caller.completed(sound);
    const collected = await caller.collect(sound);
    expect([collected.headers.get('content-type'), [...collected.bytes]]).toEqual([
      'audio/mpeg',
      [0xff, 0xfb, 0, 1],
    ]);

    expect(partner.submissions.slice(0, 2)).toEqual(
      Array.from({ length: 2 }, () => ({ path: '/v1/paint', credential: 'key-of-the-lab', body })),
    );
    const refused = await caller.call('POST', '/v2/models/lab/paint', { body: '{"seed":"x"}' });
    expect([refused.status, refused.json()['detail']]).toMatchObject([
      422,
      [
        { loc: ['body', 'prompt'], type: 'missing' },
        { loc: ['body', 'seed'], type: 'int_type' },
      ],
    ]);
    expect(running()).toEqual(pids);
  });

  it('leaves live runs their facts: fifty of them, most not yet sent, finish as they were admitted', async () => {
    const workspace = await system.caller({ windowLimit: 100_000, balanceMicros: 10_000_000 });
    partner.holding = true;
    partner.submissions.length = 0;
    const runs = await Promise.all(
      Array.from({ length: 50 }, (_, index) => workspace.submit('lab/paint', `{"prompt":"${index}"}`)),
    );
    put('lab-paint.yaml', row('lab/paint', 'v2/paint', 7_000));
    await renewed();
    // A workspace has five calls in flight: the other runs are parked.
    expect(partner.submissions.length).toBeLessThan(50);
    const late = await workspace.submit('lab/paint', '{"prompt":"late"}');
    partner.holding = false;
    await Promise.all([...runs, late].map((run) => workspace.completed(run, 120_000)));

    const paths = partner.submissions.map(({ path: asked, body }) => [asked, body === '{"prompt":"late"}']);
    expect(paths.filter(([asked]) => asked === '/v1/paint')).toHaveLength(50);
    expect(paths.filter(([asked, isLate]) => asked === '/v2/paint' && isLate)).toHaveLength(1);
    const billed = await system.sql<{ billed: string; runs: string }>(
      `SELECT billed_micros::text AS billed, count(*)::text AS runs FROM audit_record
        WHERE workspace_id = $1 GROUP BY 1 ORDER BY 1`,
      [workspace.workspaceId],
    );
    expect(billed).toEqual([
      { billed: '1000', runs: '50' },
      { billed: '7000', runs: '1' },
    ]);
  });

  it('stays as it runs after a bad edit, and says so until the edit is mended', async () => {
    const good = await status();
    expect([good.code, good.agreed, good.processes.map(({ app }) => app)]).toEqual([
      0,
      true,
      ['gateway', 'worker'],
    ]);
    put('lab-paint.yaml', row('lab/paint', 'v3/paint', 1).replace('type: string', 'type: sting'));
    await waitFor(async () => (await said()).every(({ problem }) => problem !== null), {
      withinMs: 60_000,
      what: 'both processes to refuse the edit',
      everyMs: 100,
    });
    const bad = await status();
    expect([bad.code, bad.agreed]).toEqual([1, true]);
    expect(bad.processes.map(({ revision }) => revision)).toEqual(
      good.processes.map(({ revision }) => revision),
    );
    expect(bad.processes[0]?.problem).toContain(
      'lab-paint.yaml#/input/properties/prompt/type: "sting" is no type',
    );
    const [gateway] = system.gateways;
    if (gateway === undefined) throw new Error('there is no gateway');
    expect(await readings(gateway, 'refused')).toBeGreaterThan(0);
    await waitFor(() => gateway.logs().includes('the catalog was not renewed'), {
      withinMs: 20_000,
      what: 'the line about the edit',
    });
    const answer = await caller.call('POST', '/v2/models/lab/paint', { body: '{"prompt":"as before"}' });
    expect([answer.status, partner.submissions.at(-1)?.path]).toEqual([200, '/v2/paint']);

    put('lab-paint.yaml', row('lab/paint', 'v2/paint', 7_000));
    await renewed();
    expect((await status()).code).toBe(0);
  });

  it('is read again at SIGHUP, a renewed key too', async () => {
    const [gateway, worker] = [system.gateways[0], system.workers[0]];
    if (gateway === undefined || worker === undefined) throw new Error('something does not run');
    const before = await Promise.all([gateway, worker].map((app) => readings(app, 'unchanged')));
    writeFileSync(path.join(keys, 'lab'), 'second-key');
    await Promise.all([gateway.kill('SIGHUP'), worker.kill('SIGHUP')]);
    await waitFor(
      async () => {
        const now = await Promise.all([gateway, worker].map((app) => readings(app, 'unchanged')));
        return now.every((count, index) => count > (before[index] ?? 0));
      },
      { withinMs: 30_000, what: 'both to read again', everyMs: 100 },
    );
    // A reading that had begun before may be the one that was counted.
    await waitFor(
      async () => {
        await caller.call('POST', '/v2/models/lab/paint', { body: '{"prompt":"with the new key"}' });
        return partner.submissions.at(-1)?.credential === 'second-key';
      },
      { withinMs: 20_000, what: 'the new key to be used' },
    );
  });

  it('hides a model while its runs go on', async () => {
    partner.holding = true;
    const run = await caller.submit('lab/paint', '{"prompt":"hidden meanwhile"}');
    put('lab-paint.yaml', 'id: fal/flux-dev\nhidden: true\n');
    rmSync(path.join(rows, 'lab.yaml'));
    await renewed();
    for (const id of ['fal/flux-dev', 'lab/paint']) {
      expect((await caller.call('GET', `/v2/models/${id}`)).bucket).toBe('model_not_found');
    }
    partner.holding = false;
    expect(await caller.completed(run)).not.toHaveProperty('error_type');
    expect(running()).toEqual(pids);
    await holdToInvariants(system);
  });
});

failOnLeftovers();
