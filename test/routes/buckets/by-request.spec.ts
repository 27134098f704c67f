import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bucket, bucketNames } from '#errors';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  unending,
  type Answer,
  type App,
  failOnLeftovers,
  holdToInvariants,
  System,
  tcpProxy,
  type TcpProxy,
  temporaryFolder,
  transports,
  waitFor,
} from '../../harness/index.js';

type TestCaller = Awaited<ReturnType<System['caller']>>;

/** An operator's row whose partner gets two seconds for a run. */
const hastyRow =
  'id: bfl/hasty\nupstream: { path: flux-2-pro }\ncharges_on_policy_rejection: no\nprice: { call: 10000 }\nbudget_seconds: 2\n';

const model = '/v2/models/bfl/flux-2-pro';
const hasty = '/v2/models/bfl/hasty';
const prompt = (text: string) => JSON.stringify({ prompt: text });

describe.each(transports().slice(0, 1))('each bucket by a real request on %s', (transport) => {
  let system: System;
  let caller: TestCaller;
  /** Holds calls for one second; its way to Postgres can be cut. */
  let impatient: App;
  let toPostgres: TcpProxy;
  const seen = new Set<Bucket>();

  beforeAll(async () => {
    const directory = temporaryFolder('catalog');
    writeFileSync(path.join(directory, 'hasty.yaml'), hastyRow);
    system = await System.start({
      transport,
      // A partner that refuses one run for long holds up no other one here.
      env: { CATALOG_DIR: directory, PROVIDER_LANE_PAUSE_MS: '10' },
    });
    caller = await system.caller();
    const url = new URL(system.database.url);
    toPostgres = await tcpProxy({ port: Number(url.port), host: url.hostname });
    url.host = toPostgres.address;
    impatient = await system.startGateway({
      DATABASE_URL: url.href,
      SYNC_DEADLINE_MS: '1000',
      AUTH_CACHE_MS: '1',
    });
    system.forget(impatient);
  });
  afterAll(async () => {
    toPostgres.set('pass');
    await system.stop();
    await toPostgres.close();
  });

  /** Status, header and body as one bucket has them; the same bucket in header and body, and nothing else there. */
  function expectBucket(answer: Answer, status: number, bucket: Bucket, detail: RegExp): void {
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([status, bucket]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('x-service-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.json()).toEqual({ detail: expect.stringMatching(detail), error_type: bucket });
    seen.add(bucket);
  }

  const run = (route: string, text: string, by: TestCaller = caller) =>
    by.call('POST', route, { body: prompt(text) });

  it('invalid_input: a body that is no JSON object', async () => {
    const answer = await caller.call('POST', model, { body: '[]' });
    expectBucket(answer, 400, 'invalid_input', /object/i);
  });

  it('invalid_input: fields that the model does not accept, as 422 without error_type', async () => {
    const answer = await caller.call('POST', model, { body: '{"prompt":1}' });
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([422, 'invalid_input']);
    expect(answer.json()).toEqual({
      detail: [expect.objectContaining({ loc: ['body', 'prompt'], type: 'string_type', input: 1 })],
    });
  });

  it('content_policy_violation: the partner refuses the content', async () => {
    expectBucket(await run(model, '[[sim:policy_output]]'), 400, 'content_policy_violation', /./);
  });

  it('provider_error: the partner’s generation fails, and its words are not passed on', async () => {
    expectBucket(await run(model, '[[sim:job_failed]]'), 502, 'provider_error', /provider/i);
  });

  it('provider_error: our account there is refused, which the caller learns nothing of', async () => {
    for (const refusal of ['401', '402']) {
      const answer = await run(model, `[[sim:${refusal}]]`);
      expectBucket(answer, 502, 'provider_error', /^(?!.*(key|account|balance|credit|payment)).*$/i);
    }
  });

  it('provider_timeout: the partner does not answer within its budget', async () => {
    const started = performance.now();
    expectBucket(await run(hasty, '[[sim:hang_poll]]'), 504, 'provider_timeout', /./);
    expect(performance.now() - started).toBeGreaterThan(1_900);
  });

  it('service_unavailable: the partner refuses until its budget is spent', async () => {
    const refused = await system.caller();
    const answering = run(model, '[[sim:429]]', refused);
    const ofRun = `WHERE workspace_id = $1`;
    const refusals = async () => {
      const [found] = await system.sql<{ id: string }>(`SELECT id FROM run ${ofRun}`, [refused.workspaceId]);
      const lines = system.workers.flatMap((worker) => worker.logs().split('\n'));
      return lines.filter((line) => line.includes('trying again') && line.includes(found?.id ?? '-')).length;
    };
    await waitFor(async () => (await refusals()) > 2, { withinMs: 60_000, what: 'a third refusal' });
    // From here on nothing is left: an answer to a try that had little left would be cut off.
    await system.sql(`UPDATE run SET deadline_at = now() ${ofRun}`, [refused.workspaceId]);
    const answer = await answering;
    expectBucket(answer, 503, 'service_unavailable', /./);
    expect(answer.headers.has('retry-after')).toBe(false);
  });

  it('insufficient_credits: the balance does not cover the call', async () => {
    const poor = await system.caller({ balanceMicros: 1 });
    expectBucket(await run(model, 'x', poor), 402, 'insufficient_credits', /credits/);
  });

  it('model_not_found: an id of no model', async () => {
    const answer = await run('/v2/models/bfl/flux-2-prp', 'x');
    expectBucket(answer, 404, 'model_not_found', /Did you mean bfl\/flux-2-pro/);
  });

  it('unauthorized: no usable credential', async () => {
    const answer = await caller.call('POST', model, { body: '{}', headers: { 'x-api-key': 'rk_live_none' } });
    expectBucket(answer, 401, 'unauthorized', /credential/);
  });

  it('forbidden: a model that may be seen and not run', async () => {
    const reader = await system.caller({ runnable: ['fal/*'] });
    expectBucket(await run(model, 'x', reader), 403, 'forbidden', /not run/);
  });

  it('not_enabled: a workspace that the router is switched off for', async () => {
    const off = await system.caller({ enabled: false });
    expectBucket(await run(model, 'x', off), 403, 'not_enabled', /not switched on/);
  });

  it('concurrency_limit_exceeded: as many calls in flight as allowed', async () => {
    const full = await system.caller({ inflightLimit: 0 });
    const answer = await run(model, 'x', full);
    expectBucket(answer, 429, 'concurrency_limit_exceeded', /calls in flight/);
    expect(answer.headers.has('x-committed-spend-limit')).toBe(false);
  });

  it('rate_limited: the window’s allowance is spent', async () => {
    const spent = await system.caller({ windowLimit: 0 });
    expectBucket(await run(model, 'x', spent), 429, 'rate_limited', /per minute/);
  });

  it('client_disconnected: a cancelled run, on status and on collect', async () => {
    const busy = await system.caller({ inflightLimit: 0 });
    const waiting = await busy.submit('bfl/flux-2-pro', prompt('cancelled'));
    expect((await busy.cancel(waiting)).status).toBe(202);
    expect((await busy.status(waiting)).json()).toMatchObject({
      status: 'COMPLETED',
      error_type: 'client_disconnected',
    });
    expectBucket(await busy.collect(waiting), 409, 'client_disconnected', /cancelled/);
  });

  it('client_disconnected: a caller that closed its connection, in log and audit record only', async () => {
    const leaving = await system.caller();
    const controller = new AbortController();
    const [gateway] = system.gateways;
    const gone = fetch(`${gateway?.url}${model}`, {
      method: 'POST',
      headers: { 'x-api-key': leaving.key, 'content-type': 'application/json' },
      body: prompt(`[[sim:tag=leaving]] ${unending}`),
      signal: controller.signal,
    }).catch((error: unknown) => error);
    await waitFor(async () => (await system.partner.peaks('leaving')).accepted === 1, {
      withinMs: 20_000,
      what: 'the submission',
    });
    controller.abort();
    await gone;
    await waitFor(
      () =>
        gateway?.logs().includes('"status":499,"error_type":"client_disconnected"') &&
        gateway.logs().includes(leaving.workspaceId),
      { withinMs: 20_000, what: 'the line of the call' },
    );
    await system.partner.finish();
    const record = await waitFor(
      async () => {
        const [found] = await system.sql<{ outcome: string; caller_left: boolean; billed: boolean }>(
          `SELECT outcome, caller_left, billed_micros > 0 AS billed FROM audit_record WHERE workspace_id = $1`,
          [leaving.workspaceId],
        );
        return found;
      },
      { withinMs: 20_000, what: 'the audit record' },
    );
    // An attribution, not an outcome: what the partner completed is billed.
    expect(record).toEqual({ outcome: 'succeeded', caller_left: true, billed: true });
  });

  it('deadline_exceeded: the router’s own bound, with Retry-After while a handle is held', async () => {
    const late = await system.caller();
    const call = async () => {
      const answer = await late.call('POST', `${impatient.url}${model}`, {
        body: prompt(unending),
        headers: { 'idempotency-key': 'late' },
      });
      expectBucket(answer, 504, 'deadline_exceeded', /same Idempotency-Key/);
      return answer.headers.get('retry-after');
    };
    await call();
    const held = `SELECT FROM run WHERE workspace_id = $1 AND handle IS NOT NULL`;
    await waitFor(async () => (await system.sql(held, [late.workspaceId])).length === 1, {
      withinMs: 20_000,
      what: 'the handle',
    });
    expect(await call()).toMatch(/^[1-9]\d*$/);
    await system.partner.finish();
  });

  it('internal_error: a failure that nobody foresaw, whose words stay inside and whose key is kept', async () => {
    const broken = await system.startGateway({ FAILPOINT: 'submit.afterDeliver:fail' });
    system.forget(broken);
    const call = () =>
      caller.call('POST', `${broken.url}${model}`, {
        body: prompt('[[sim:tag=broken]]'),
        headers: { 'idempotency-key': 'broken' },
      });
    expectBucket(await call(), 500, 'internal_error', /^(?!.*failpoint).*$/);
    expect((await call()).status).toBe(200);
    expect((await system.partner.peaks('broken')).accepted).toBe(1);
  });

  it('service_unavailable: Postgres is away, and it clears on its own', async () => {
    toPostgres.set('reset');
    const answer = await caller.call('POST', `${impatient.url}${model}/requests`, { body: prompt('x') });
    expectBucket(answer, 503, 'service_unavailable', /temporarily/);
    toPostgres.set('pass');
    await waitFor(
      async () =>
        (await caller.call('POST', `${impatient.url}${model}/requests`, { body: prompt('x') })).status ===
        201,
      { withinMs: 20_000, what: 'a submission that is taken again' },
    );
  });

  it('keeps every invariant', () => holdToInvariants(system));

  it('saw every bucket of the closed set, and no other', () => {
    expect([...seen].toSorted()).toEqual([...bucketNames].toSorted());
    expect(seen.size).toBe(15);
  });
});

failOnLeftovers();
