import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { polled, provider, row } from '../catalog/own-rows.js';
import {
  type Answer,
  failOnLeftovers,
  sharedSystem,
  type TestCaller,
  eitherTransport,
  waitFor,
} from '../harness/index.js';
import { KeyCheckingLab, keyIn, promptIn } from './key-checking-lab.js';

/** Every key of this file, of workspaces and of the operator, begins like this, so that one search finds any of them. */
const mark = 'own-key-4f7c19d2';
const keyOf = (name: string): string => `${mark}-${name}-0123456789`;

const submit = (caller: TestCaller, of: string, prompt = 'a cat') =>
  caller.submit(of, JSON.stringify({ prompt }));
const payer = ({ headers }: Answer) => headers.get('x-service-billed-to');

describe.each(eitherTransport())('a workspace’s own key of a provider on %s', (transport) => {
  const system = sharedSystem(transport);
  /** Has no key of the operator. */
  const keyless = `keyless-${transport}`;
  /** Has a key of the operator. */
  const shared = `shared-${transport}`;
  const model = `${keyless}/paint`;
  const sharedModel = `${shared}/paint`;
  const operatorKey = keyOf(`operator-${shared}`);
  let upstream: KeyCheckingLab;
  const answers: Answer[] = [];

  beforeAll(async () => {
    upstream = await KeyCheckingLab.start();
    upstream.issued.add(operatorKey);
    system.giveKey(keyless, '\n');
    system.giveKey(shared, operatorKey);
    await system.serve({
      [`${keyless}.yaml`]: provider(keyless, upstream.url, polled),
      [`${keyless}-paint.yaml`]: row(model, 'paint', 10_000),
      [`${shared}.yaml`]: provider(shared, upstream.url, polled),
      [`${shared}-paint.yaml`]: row(sharedModel, 'paint', 10_000),
    });
    const caller = await system.caller();
    for (const gateway of system.gateways.keys())
      await waitFor(async () => !(await caller.listed(gateway)).includes(model), {
        withinMs: 30_000,
        what: 'a gateway to know that the provider has no key',
      });
  });
  afterAll(() => upstream.stop());
  failOnLeftovers();

  const newCaller = (facts: Parameters<typeof system.caller>[0] = {}) =>
    system.caller(facts, undefined, ['catalog', 'run', 'usage', 'requests', 'workspace', 'provider_keys']);
  const call = async (caller: TestCaller, method: string, address: string, body?: object) => {
    const answer = await caller.call(method, address, body && { body: JSON.stringify(body) });
    answers.push(answer);
    return answer;
  };
  /** Sets a key, and waits until every gateway knows of it. */
  const setKey = async (caller: TestCaller, of: string, key: string, { isIssued = true } = {}) => {
    if (isIssued) upstream.issued.add(key);
    const answer = await call(caller, 'PUT', `/v2/provider-keys/${of}`, { key });
    expect(answer.status).toBe(200);
    for (const gateway of system.gateways.keys())
      await waitFor(async () => (await caller.listed(gateway)).includes(`${of}/paint`), {
        withinMs: 20_000,
        what: 'a gateway to know of the key',
      });
    return answer.json();
  };
  const finished = async (caller: TestCaller, of: string, prompt?: string) => {
    const run = await submit(caller, of, prompt);
    await caller.completed(run);
    const answer = await caller.collect(run);
    answers.push(answer, await caller.status(run), await caller.call('GET', `/v2/requests/${run.requestId}`));
    return answer;
  };
  const keysSeen = (prompt: string) =>
    upstream.submissions.filter((each) => promptIn(each) === prompt).map(keyIn);

  it('makes its provider runnable for this workspace alone, which pays nothing', async () => {
    const [caller, other] = [await newCaller({ balanceMicros: 0 }), await newCaller()];
    const before = await call(caller, 'POST', `/v2/models/${model}`, { prompt: 'mine' });
    expect([before.status, before.bucket]).toEqual([403, 'not_enabled']);
    expect(await caller.listed()).not.toContain(model);

    const key = keyOf('first');
    expect(await setKey(caller, keyless, key)).toEqual({
      provider: keyless,
      last_characters: '6789',
      set_at: expect.any(String),
      set_by: expect.stringMatching(/^key:/),
      state: 'unused',
    });
    const now = await call(caller, 'POST', `/v2/models/${model}`, { prompt: 'mine' });
    expect([now.status, payer(now), now.headers.get('x-service-cost-cents')]).toEqual([
      200,
      'workspace',
      '0',
    ]);
    // The provider repeats the key, which even its owner cannot read here.
    expect(now.json()).toMatchObject({ image: 'done', key: '[redacted]', said: 'the key is "[redacted]"' });
    const queued = await finished(caller, model, 'mine');
    expect([queued.status, payer(queued)]).toEqual([200, 'workspace']);
    expect(keysSeen('mine')).toEqual([key, key]);
    expect((await call(caller, 'GET', '/v2/ledger')).json()['data']).toEqual([]);
    expect((await call(caller, 'GET', '/v2/provider-keys')).json()).toEqual({
      data: [expect.objectContaining({ provider: keyless, state: 'accepted' })],
    });

    expect(await other.listed()).not.toContain(model);
    const others = await call(other, 'POST', `/v2/models/${model}`, { prompt: 'mine' });
    expect([others.status, payer(others)]).toEqual([403, null]);
    expect((await call(other, 'GET', '/v2/provider-keys')).json()).toEqual({ data: [] });
  });

  it('is billed the workspace’s fee, and never the operator’s key', async () => {
    const caller = await newCaller({ balanceMicros: 100_000, ownKeyFee: 0.25, markup: 3 });
    const key = keyOf('fee');
    await setKey(caller, shared, key);
    const estimate = await call(caller, 'POST', `/v2/models/${sharedModel}/cost`, { prompt: 'x' });
    expect(estimate.json()).toEqual({
      expected_cents: 0.25,
      reserved_cents: 0.25,
      max_cents: 0.25,
      basis: 'own_key',
    });
    const answer = await finished(caller, sharedModel, 'with a fee');
    expect([answer.headers.get('x-service-cost-cents'), payer(answer)]).toEqual(['0.25', 'workspace']);
    expect((await call(caller, 'GET', '/v2/ledger')).json()['data']).toMatchObject([
      { kind: 'bill', amount_cents: -0.25, cost_basis: 'own_key' },
    ]);
    // Without it, the same workspace uses the operator's key again.
    expect((await call(caller, 'DELETE', `/v2/provider-keys/${shared}`)).status).toBe(204);
    await waitFor(async () => payer(await finished(caller, sharedModel, 'without it')) === null, {
      withinMs: 20_000,
      what: 'every gateway to forget the key',
    });
    expect(keysSeen('with a fee')).toEqual([key]);
    expect(keysSeen('without it').at(-1)).toBe(operatorKey);
  });

  it('delays nobody else when it is rejected or throttled, and alarms no operator', async () => {
    const [caller, other] = [await newCaller(), await newCaller()];
    const bad = keyOf('unknown');
    await setKey(caller, shared, bad, { isIssued: false });
    const rejected = await finished(caller, sharedModel, 'rejected');
    expect([rejected.status, rejected.bucket, payer(rejected)]).toEqual([502, 'provider_error', 'workspace']);
    expect(rejected.json()['detail']).toMatch(/rejected the workspace’s own key/);
    await waitFor(
      async () => (await call(caller, 'GET', `/v2/provider-keys/${shared}`)).json()['state'] === 'rejected',
      { withinMs: 20_000, what: 'the state of the key' },
    );

    await setKey(caller, shared, keyOf('throttled'));
    const waiting = await submit(caller, sharedModel, 'busy');
    await waitFor(async () => keysSeen('busy').length > 0, { withinMs: 20_000, what: 'a throttled call' });
    const behind = await Promise.all([1, 2, 3].map(() => submit(caller, sharedModel, 'behind it')));
    for (let nth = 0; nth < 5; nth += 1)
      expect((await finished(other, sharedModel, 'of another')).status).toBe(200);
    // All runs of the other workspace are done, while those of the throttled key wait.
    expect(keysSeen('of another')).toEqual(Array.from({ length: 5 }, () => operatorKey));
    expect(keysSeen('behind it')).toEqual([]);
    const pauses = await system.sql<{ provider: string }>(
      'SELECT provider FROM provider_pause WHERE until > now() AND provider LIKE $1',
      [`${shared}%`],
    );
    expect(pauses).toEqual([{ provider: `${shared}@${caller.workspaceId}` }]);
    // Workers note results now and then; those of five runs are of all that came before them as well.
    const ofTheOperator = async () =>
      (
        await system.sql<{ result: string }>(
          "SELECT entry->>'result' AS result FROM provider_health, jsonb_array_elements(results) AS entry WHERE provider = $1",
          [shared],
        )
      ).map(({ result }) => result);
    await waitFor(async () => (await ofTheOperator()).length >= 5, {
      withinMs: 20_000,
      what: 'the results of the other workspace',
    });
    expect(new Set(await ofTheOperator())).toEqual(new Set(['ok']));

    // A deleted key ends the runs that still wait for it.
    for (const run of [waiting, ...behind]) await caller.cancel(run);
    await system.ended(caller);
  });

  it('can be replaced and deleted while its runs are live, and goes on with those', async () => {
    const caller = await newCaller();
    const [former, newer] = [keyOf('former'), keyOf('newer')];
    await setKey(caller, keyless, former);
    upstream.holding = true;
    const first = await submit(caller, model, 'live');
    await waitFor(async () => keysSeen('live').length === 1, { withinMs: 20_000, what: 'the submission' });
    await setKey(caller, keyless, newer);
    const second = await submit(caller, model, 'live');
    await waitFor(async () => keysSeen('live').length === 2, { withinMs: 20_000, what: 'the submission' });
    expect((await call(caller, 'DELETE', `/v2/provider-keys/${keyless}`)).status).toBe(204);
    upstream.holding = false;
    for (const run of [first, second]) {
      await caller.completed(run);
      expect((await caller.collect(run)).status).toBe(200);
    }
    expect(keysSeen('live')).toEqual([former, newer]);
    expect(upstream.wrongKeys).toEqual([]);
    const gone = await call(caller, 'GET', `/v2/provider-keys/${keyless}`);
    expect([gone.status, gone.json()['detail']]).toEqual([
      404,
      `The workspace has no key of its own for ${keyless}.`,
    ]);
  });

  it('ends a run that waits for a deleted key, without a call', async () => {
    const caller = await newCaller({ inflightLimit: 1 });
    await setKey(caller, keyless, keyOf('deleted'));
    upstream.holding = true;
    const live = await submit(caller, model, 'before it');
    await waitFor(async () => keysSeen('before it').length === 1, {
      withinMs: 20_000,
      what: 'the submission',
    });
    const parked = await submit(caller, model, 'too late');
    await call(caller, 'DELETE', `/v2/provider-keys/${keyless}`);
    upstream.holding = false;
    await caller.completed(live);
    await caller.completed(parked);
    const answer = await caller.collect(parked);
    expect([answer.status, answer.bucket]).toEqual([403, 'not_enabled']);
    expect(keysSeen('too late')).toEqual([]);
  });

  it('serves streams, the endpoints of vendors and agents too', async () => {
    const caller = await newCaller({ balanceMicros: 0 });
    const key = keyOf('vendors');
    await call(caller, 'PUT', '/v2/provider-keys/openai', { key });
    const stream = { model: 'gpt-5.5', input: 'a word', max_output_tokens: 100, stream: true };
    await waitFor(
      async () => payer(await call(caller, 'POST', '/openai/v1/responses', stream)) === 'workspace',
      { withinMs: 30_000, what: 'a gateway to know of the key' },
    );
    const params = { name: 'run_model', arguments: { model: 'openai/gpt-5.5', input: { input: 'a word' } } };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const tool = await caller.call('POST', '/mcp', {
      body: JSON.stringify(body),
      headers: { accept: 'application/json, text/event-stream' },
    });
    expect([tool.status, tool.bytes.toString()]).toEqual([200, expect.not.stringContaining('isError')]);
    await system.ended(caller);
    const runs = await system.sql(
      `SELECT outcome, billed_micros::float AS billed, facts ? 'ownKey' AS own FROM run WHERE workspace_id = $1 AND facts ? 'ownKey'`,
      [caller.workspaceId],
    );
    expect(runs.length).toBeGreaterThanOrEqual(2);
    expect(runs).toEqual(runs.map(() => ({ outcome: 'succeeded', billed: 0, own: true })));
  });

  /** Where any of the texts occurs: tables, Redis, stored files, logs and metrics. */
  const search = async (...texts: string[]): Promise<string[]> => {
    const isIn = (bytes: Buffer | string) => texts.some((text) => bytes.includes(text));
    const found = [];
    const tables = await system.sql<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class
        WHERE relkind IN ('r', 'm') AND relnamespace = current_schema()::regnamespace`,
    );
    for (const { name } of tables) {
      // Bytes are shown in hexadecimal.
      const shown = texts.flatMap((text) => [text, Buffer.from(text).toString('hex')]);
      const rows = await system.sql(
        `SELECT FROM ${name} AS one WHERE EXISTS (SELECT FROM unnest($1::text[]) AS text WHERE strpos(one::text, text) > 0) LIMIT 1`,
        [shown],
      );
      if (rows.length > 0) found.push(name);
    }
    if (system.redis) {
      const redis = new Redis(system.redis.url);
      for await (const keys of redis.scanStream({ count: 1_000 }) as AsyncIterable<string[]>)
        for (const key of keys)
          if (isIn(key) || isIn((await redis.dumpBuffer(key)) ?? '')) found.push(`redis ${key}`);
      await redis.quit();
    }
    for (const file of readdirSync(system.assets, { recursive: true, withFileTypes: true }))
      if (file.isFile() && isIn(readFileSync(path.join(file.parentPath, file.name)))) found.push(file.name);
    for (const app of system.apps) {
      if (isIn(app.logs())) found.push(`log of ${app.name}`);
      const metrics = await fetch(`${app.internalUrl}/metrics`, { signal: AbortSignal.timeout(30_000) });
      if (isIn(await metrics.text())) found.push(`metrics of ${app.name}`);
    }
    return found;
  };

  it('appears in nothing that the system has written or answered', async () => {
    const caller = await newCaller();
    await setKey(caller, keyless, keyOf('searched'));
    const canary = `canary-${keyless}-6a0f`;
    expect((await finished(caller, model, canary)).status).toBe(200);
    // With the workspace's key, and with the operator's.
    for (const paid of [model, sharedModel]) {
      const refused = await finished(caller, paid, 'refused');
      expect(refused.json()['detail']).toMatchObject([{ msg: 'Not for [redacted].' }]);
      expect((await finished(caller, paid, 'broken')).status).toBe(502);
      expect((await finished(caller, paid)).json()).toMatchObject({ said: 'the key is "[redacted]"' });
    }
    // Attempts and the state of the key are written a moment later.
    await waitFor(
      async () =>
        (await system.sql(`SELECT FROM run_attempts WHERE provider = ANY ($1)`, [[keyless, shared]]))
          .length >= 4,
      { withinMs: 20_000, what: 'the attempts' },
    );
    // The search finds a text that is stored.
    expect(await search(canary)).toEqual([expect.stringContaining('payload')]);
    expect(await search(mark)).toEqual([]);
    const said = answers.map(({ bytes, headers }) => `${bytes.toString()} ${JSON.stringify([...headers])}`);
    expect(said.filter((text) => text.includes(mark))).toEqual([]);
    // Workspaces do not become labels.
    const metrics = await Promise.all(
      system.apps.map(async (app) => (await fetch(`${app.internalUrl}/metrics`)).text()),
    );
    expect(metrics.filter((text) => text.includes(caller.workspaceId))).toEqual([]);
  });
});
