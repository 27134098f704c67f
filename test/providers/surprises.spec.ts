import type { OperatorProvider, SurpriseKind } from '#schemas';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { runAdmin } from '../admin/run-admin.js';
import { provider, row } from '../catalog/own-rows.js';
import {
  failOnLeftovers,
  sharedSystem,
  type Submitted,
  type TestCaller,
  transports,
  waitFor,
} from '../harness/index.js';

const key = 'the-key-of-the-odd-provider';
const secretPhrase = 'An otter that nobody may read about, '.repeat(20);

/** Like bfl, and answered by the simulated bfl, but it expects other words, errors, files and costs. */
const odd = (name: string, simulator: string, statuses: string) =>
  provider(
    name,
    `${simulator}/bfl`,
    `
handle: { id: { path: /id }, pollUrl: { path: /polling_url, url: true } }
poll:
  url: '{pollUrl}'
  status: /status
  statuses: ${statuses}
  interval_seconds: 0.1
result_paths: [/result]
`,
  ).replace('x-lab-key', 'x-key');

/** One is enough: surprises and attempts are in the database alone. */
const [transport = 'postgres'] = transports();

describe('an unexpected reply', () => {
  const system = sharedSystem(transport);
  let caller: TestCaller;
  let operator: TestCaller;

  beforeAll(async () => {
    const { url } = system.simulator;
    for (const name of ['odd', 'usual-odd', 'odd-words']) system.giveKey(name, key);
    await system.serve({
      'odd.yaml': odd('odd', url, '{ Ready: succeeded }'),
      'usual-odd.yaml': odd('usual-odd', url, '{ Pending: running, Ready: succeeded, Error: failed }'),
      // Declared without the place of its errors, which are not in FastAPI's format.
      'odd-words.yaml': provider('odd-words', `${url}/openai`, '').replace(
        "x-lab-key: '{secret}'",
        "authorization: 'Bearer {secret}'",
      ),
      'odd-words-paint.yaml': row('odd-words/paint', 'images/generations', 1_000),
      'odd-paint.yaml': row('odd/paint', 'v1/flux-2-pro', 1_000),
      'odd-paid.yaml': `${row('odd/paid', 'v1/flux-2-pro', 1_000).replace(
        'price: { usd: 0.001 }',
        'price: { usd: 0.5, reported: [{ path: /cost, usd: 0.01 }] }',
      )}assets: [/result/elsewhere]\n`,
      'odd-files.yaml': `${row('odd/files', 'v1/flux-2-pro', 1_000)}assets: [/result/elsewhere]\n`,
      'odd-cost.yaml': row('odd/cost', 'v1/flux-2-pro', 1_000).replace(
        'price: { usd: 0.001 }',
        'price: { usd: 0.001, reported: [{ path: /result/price, usd: 0.01 }] }',
      ),
      'usual-odd-paint.yaml': `${row('usual-odd/paint', 'v1/flux-2-pro', 1_000).replace(
        'price: { usd: 0.001 }',
        'price: { usd: 0.5, reported: [{ path: /cost, usd: 0.01 }] }',
      )}assets: [/result/sample]\n`,
    });
    caller = await system.caller();
    operator = await system.caller({}, undefined, ['operate']);
  });
  failOnLeftovers();

  const ended = async (model: string, prompt: string): Promise<Submitted> => {
    const run = await caller.submit(model, JSON.stringify({ model: 'gpt-image-2', prompt }));
    await caller.completed(run);
    return run;
  };
  const shown = async (name: string) =>
    (await operator.call('GET', `/v2/operator/providers/${name}`)).json() as OperatorProvider;
  const surpriseOf = (run: Submitted, kind: SurpriseKind) =>
    waitFor(
      async () =>
        (await shown(run.model.split('/')[0] ?? '')).surprises.find(
          (each) => each.kind === kind && each.request_id === run.requestId,
        ),
      { withinMs: 30_000, what: `the surprise ${kind} to be written`, everyMs: 200 },
    );
  const counted = async (name: string, kind: SurpriseKind): Promise<number> => {
    const metrics = await Promise.all(
      system.workers.map(async ({ internalUrl }) => (await fetch(`${internalUrl}/metrics`)).text()),
    );
    const line = new RegExp(
      `^router_provider_surprises_total\\{provider="${name}",kind="${kind}"\\} (\\d+)$`,
      'm',
    );
    return metrics.reduce((sum, text) => sum + Number(line.exec(text)?.[1] ?? 0), 0);
  };

  it('that names an unknown status is counted, and the run continues', async () => {
    const before = await counted('odd', 'unknown_status');
    // Long enough for a poll before the end, on a busy machine too.
    const run = await ended('odd/paint', '[[sim:takes=4000]]');
    const surprise = await surpriseOf(run, 'unknown_status');
    expect(surprise).toMatchObject({
      model: 'odd/paint',
      detail: 'The reply to poll has the status “Pending”.',
      http_status: 200,
      reply: expect.stringContaining('"status":"Pending"'),
    });
    expect(await counted('odd', 'unknown_status')).toBeGreaterThan(before);
    expect((await caller.collect(run)).status).toBe(200);
  });

  it('that is an error in an unknown form', async () => {
    const run = await ended('odd-words/paint', '[[sim:field_error]]');
    expect(await surpriseOf(run, 'unknown_error')).toMatchObject({
      detail: 'The reply to submit is HTTP 400 with a rejected input in an unknown form.',
      http_status: 400,
      reply: expect.stringContaining('"error"'),
    });
    expect(await counted('odd-words', 'unknown_error')).toBeGreaterThan(0);
  });

  it('that has the status of a success but is a page', async () => {
    const run = await ended('odd/paint', '[[sim:html]]');
    expect(await surpriseOf(run, 'unreadable')).toMatchObject({
      detail: 'The reply to submit was something that is not JSON.',
      reply: expect.stringContaining('<html>'),
    });
    expect(await counted('odd', 'unreadable')).toBeGreaterThan(0);
  });

  it('that is a success without its result, or without the files of the row, is the result and costs nothing', async () => {
    for (const [model, prompt, reply] of [
      ['odd/paint', '[[sim:no_asset]]', '"status":"Ready"'],
      ['odd/files', 'a cat', '"sample"'],
    ] as const) {
      const run = await ended(model, prompt);
      expect(await surpriseOf(run, 'no_files')).toMatchObject({
        model,
        detail: 'The reply to poll is a success with nothing at the places of its files.',
        reply: expect.stringContaining(reply),
      });
      const { status, headers } = await caller.collect(run);
      expect([status, headers.get('x-service-cost-cents')]).toEqual([200, '0']);
    }
    expect(await counted('odd', 'no_files')).toBeGreaterThanOrEqual(2);
  });

  it('that is a success without files is billed what the provider reported', async () => {
    const run = await ended('odd/paid', 'a cat');
    const [bill] = await system.sql<{ basis: string; reported: number; billed: number }>(
      `SELECT basis, reported_micros::float AS reported, audit_record.billed_micros::float AS billed
       FROM audit_record JOIN run ON run.id = run_id WHERE run_id = $1`,
      [run.requestId],
    );
    expect(bill).toEqual({ basis: 'reported', reported: expect.any(Number), billed: bill?.reported });
    expect(bill?.billed).toBeGreaterThan(0);
  });

  it('that ends a run whose cost no reply reported', async () => {
    const run = await ended('odd/cost', 'a cat');
    expect(await surpriseOf(run, 'missing_cost')).toMatchObject({ model: 'odd/cost' });
    expect(await counted('odd', 'missing_cost')).toBeGreaterThan(0);
  });

  it('is shown without our key, without links and without the prompt', async () => {
    const run = await ended('odd/paint', `${secretPhrase} [[sim:takes=0]] [[sim:no_asset]] ${key}`);
    const { reply } = await surpriseOf(run, 'no_files');
    expect(reply).toContain('"status":"Ready"');
    const files = await ended('odd/files', `${secretPhrase} ${key}`);
    const shownReply = (await surpriseOf(files, 'no_files')).reply ?? '';
    expect(shownReply).not.toContain(key);
    expect(shownReply).not.toMatch(/\/files\/|(An otter that nobody may read about, ){7}/);
    expect(shownReply).toContain('characters of the input]');
  });

  it('does not come from a provider that answers as declared', async () => {
    await ended('usual-odd/paint', '[[sim:takes=500]]');
    await ended('usual-odd/paint', '[[sim:job_failed]]');
    await ended('usual-odd/paint', '[[sim:500_submit]]');
    for (const kind of ['unknown_status', 'unknown_error', 'unreadable', 'no_files', 'missing_cost'] as const)
      expect([kind, await counted('usual-odd', kind)]).toEqual([kind, 0]);
    expect((await shown('usual-odd')).surprises).toEqual([]);
  });

  it('is printed by `admin provider show`', async () => {
    const { code, out } = await runAdmin(system.env(), 'provider', 'show', 'odd');
    expect(code).toBe(0);
    expect(out).toMatch(
      /^unknown_status: \d+ since \d{4}-.*\n {2}run .* of odd\/\w+\n {2}The reply to poll has/m,
    );
    const list = await runAdmin(system.env(), 'provider', 'list');
    expect(list.out).toMatch(/SURPRISES/);
  });
});
