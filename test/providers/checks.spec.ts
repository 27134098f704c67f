import type { OperatorProvider, OperatorProviderCheck } from '#schemas';
import { providerList } from '#providers';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { runAdmin } from '../admin/run-admin.js';
import { provider, row } from '../catalog/own-rows.js';
import {
  failOnLeftovers,
  sharedSystem,
  type TestCaller,
  eitherTransport,
  waitFor,
} from '../harness/index.js';

/** Declared like bfl, and answered by the simulated bfl: its keys do not disturb other files. */
const proved = (name: string, simulator: string) =>
  provider(
    name,
    `${simulator}/bfl`,
    `
account:
  key: [{ http: 403, source: 'https://docs.bfl.ai/api_integration/errors', date: 2026-11-25 }]
  balance: { not_documented_in: 'https://docs.bfl.ai/api_integration/errors', date: 2026-11-25 }
  quota: { not_documented_in: 'https://docs.bfl.ai/api_integration/errors', date: 2026-11-25 }
check:
  url: '{base}/v1/credits'
  balance: { path: /credits, unit: credits }
  source: https://docs.bfl.ai/api-reference/get-the-users-credits.md
  date: 2026-11-26
`,
  ).replace('x-lab-key', 'x-key');

describe.each(eitherTransport())('the check of a key on %s', (transport) => {
  const system = sharedSystem(transport);
  let operator: TestCaller;
  const check = async (name: string): Promise<OperatorProviderCheck> => {
    const answer = await operator.call('POST', `/v2/operator/providers/${name}/check`);
    expect(answer.status).toBe(200);
    return answer.json() as OperatorProviderCheck;
  };
  const shown = async (name: string) =>
    (await operator.call('GET', `/v2/operator/providers/${name}`)).json() as OperatorProvider;
  const becomes = (name: string, state: string) =>
    waitFor(async () => (await shown(name)).state === state, {
      withinMs: 20_000,
      what: `the state to be ${state}`,
      everyMs: 100,
    });
  const admin = (...words: string[]) => runAdmin(system.env(), 'provider', ...words);
  const keys = {
    'proved-good': 'the-good-key',
    'proved-wrong': 'a-revoked-key',
    'proved-hanging': 'a-hanging-key',
    'proved-missing': '',
    'proved-replaced': 'main=a-revoked-key\nspare=another-revoked-key',
  };

  beforeAll(async () => {
    for (const [name, key] of Object.entries(keys)) system.giveKey(name, key);
    await system.serve(
      Object.fromEntries(
        Object.keys(keys).flatMap((name) => [
          [`${name}.yaml`, proved(name, system.simulator.url)],
          [`${name}-paint.yaml`, row(`${name}/paint`, 'v1/flux-2-pro', 1_000)],
        ]),
      ),
    );
    operator = await system.caller({}, undefined, ['operate']);
  });
  failOnLeftovers();

  it('a good key, with the balance', async () => {
    expect(await check('proved-good')).toEqual({
      provider: 'proved-good',
      result: 'ok',
      http_status: 200,
      latency_ms: expect.any(Number),
      balance: { amount: 1250.5, unit: 'credits' },
      checked_at: expect.any(String),
    });
    expect((await shown('proved-good')).check).toMatchObject({ result: 'ok', balance: { amount: 1250.5 } });
  });

  it('a wrong key makes the state key_rejected, until a check is accepted', async () => {
    expect(await check('proved-wrong')).toMatchObject({ result: 'rejected', http_status: 403 });
    await becomes('proved-wrong', 'key_rejected');
    system.giveKey('proved-wrong', 'a-better-key');
    await waitFor(async () => (await check('proved-wrong')).result === 'ok', {
      withinMs: 30_000,
      what: 'the workers to use the new key',
      everyMs: 200,
    });
    await becomes('proved-wrong', 'ready');
    system.giveKey('proved-wrong', 'a-revoked-key');
    await waitFor(async () => (await check('proved-wrong')).result === 'rejected', {
      withinMs: 30_000,
      what: 'the workers to use the old key',
      everyMs: 200,
    });
  });

  it('a replaced key is checked unasked, and nothing is said of the former keys', async () => {
    expect(await check('proved-replaced')).toMatchObject({ result: 'rejected', detail: 'Key main.' });
    await becomes('proved-replaced', 'key_rejected');
    // One of two lines is left: it still is a key with a name.
    system.giveKey('proved-replaced', 'main=the-good-key');
    await waitFor(
      async () => {
        const { state, check: last, keys: listed } = await shown('proved-replaced');
        const names = listed.map((key) => `${key.name} ${key.state}`).join();
        // On a busy machine the unasked call may miss its time limit.
        if (last?.result === 'unreachable') await check('proved-replaced');
        return state === 'ready' && last?.result === 'ok' && names === 'main ready';
      },
      { withinMs: 30_000, what: 'the page to say what is true of the new key', everyMs: 200 },
    );
    expect((await shown('proved-replaced')).check).toMatchObject({ result: 'ok', detail: 'Key main.' });
  });

  it('a provider that hangs, without delaying the check of another one', async () => {
    const hanging = check('proved-hanging');
    expect((await check('proved-good')).result).toBe('ok');
    expect(await hanging).toMatchObject({ result: 'unreachable', detail: 'There was no answer: timeout.' });
  });

  it('a missing key', async () => {
    expect(await check('proved-missing')).toEqual({ provider: 'proved-missing', result: 'no_key' });
  });

  it('every built-in provider that declares a check, at the simulator', async () => {
    const names = providerList.filter((each) => each.check).map(({ name }) => name);
    const results = await Promise.all(names.map(check));
    expect(results.map(({ provider: name, result }) => [name, result])).toEqual(
      names.map((name) => [name, 'ok']),
    );
    expect(results.filter(({ balance }) => balance).length).toBeGreaterThanOrEqual(9);
  });

  it('`admin provider check` prints all that are named, and exits with 1', async () => {
    const { code, out } = await admin('check', ...Object.keys(keys));
    expect(code).toBe(1);
    expect(out).toMatch(/^PROVIDER +RESULT +LATENCY +BALANCE +DETAIL\n/);
    expect(out).toMatch(/^proved-good +ok +\d+ ms +1250\.5 credits +-$/m);
    expect(out).toMatch(/^proved-wrong +rejected +\d+ ms +- +-$/m);
    expect(out).toMatch(/^proved-hanging +unreachable +\d+ ms +- +There was no answer: timeout\.$/m);
    expect(out).toMatch(/^proved-missing +no key/m);
    expect((await admin('check', 'proved-good', 'krea')).code).toBe(0);
    expect((await admin('check', 'proved-god')).error).toContain('proved-good');
  });

  it('`admin provider show` prints the last check', async () => {
    const { out } = await admin('show', 'proved-good');
    expect(out).toMatch(/^last check +ok at \d{4}-/m);
    expect(out).toMatch(/^balance +1250\.5 credits$/m);
  });

  it('`--run` makes a run of the cheapest model, billed to the named workspace, after confirmation', async () => {
    const { workspace, workspaceId } = await system.caller({ balanceMicros: 1_000_000 });
    const words = [
      'check',
      'openai',
      '--run',
      '--workspace',
      workspace,
      '--url',
      system.gateways[0]?.url ?? '',
    ];
    const asked = await admin(...words);
    expect([asked.code, asked.error]).toEqual([
      1,
      expect.stringMatching(
        /This runs openai\/\S+ for at most [\d.]+ cents, billed to w-.* Repeat the command with --yes/,
      ),
    ]);
    const { code, out } = await runAdmin(system.env(), '--yes', '--json', 'provider', ...words);
    expect(code).toBe(0);
    const { providers } = JSON.parse(out) as {
      providers: { run: { request_id: string; model: string; status: string; cost_cents: number } }[];
    };
    const run = providers[0]?.run;
    expect(run).toMatchObject({ status: 'succeeded', model: expect.stringMatching(/^openai\//) });
    const billed = await system.sql(
      'SELECT workspace_id FROM audit_record WHERE run_id = $1 AND billed_micros > 0',
      [run?.request_id],
    );
    expect(billed).toEqual([{ workspace_id: workspaceId }]);
    const live = await system.sql(
      'SELECT FROM api_key WHERE workspace_id = $1 AND name = $2 AND revoked_at IS NULL',
      [workspaceId, 'check of openai'],
    );
    expect(live).toEqual([]);
  });

  it('`--run` without a workspace makes nothing', async () => {
    expect(await admin('check', 'openai', '--run')).toMatchObject({
      code: 1,
      error: expect.stringContaining('--workspace'),
    });
  });
});
