import { describe, expect, it } from '@jest/globals';
import type { Bucket } from '#errors';
import type { Ending } from '#persistence';
import { waitFor } from '../../harness/wait-for.js';
import { type RouteGateway, sharedGateway } from '../gateways.js';
import { vendorSides } from './vendor-calls.js';

type Failure = Omit<Extract<Ending, { outcome: 'failed' }>, 'outcome' | 'billable'>;

const gateway = sharedGateway();
const small = sharedGateway('small');

const keyOf = async (facts: Parameters<RouteGateway['caller']>[0] = {}, at = gateway()) =>
  (await at.caller(facts)).caller.key;

describe.each(vendorSides)('a failed call below $base', (vendor) => {
  const send = (
    at: RouteGateway,
    key: string,
    { path, body } = vendor.call(vendor.model),
    headers: Record<string, string> = {},
  ) =>
    fetch(`${at.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...vendor.credential(key), ...headers },
      body,
      signal: AbortSignal.timeout(30_000),
    });

  /** Expects the vendor's error with our headers, and returns its text. */
  const failed = async (
    response: Response,
    status: number,
    bucket: Bucket,
    { mayRepeat = false } = {},
  ): Promise<string> => {
    const body = (await response.json()) as never;
    expect([response.status, response.headers.get('x-service-error-type'), vendor.kindOf(body)]).toEqual([
      status,
      bucket,
      vendor.kinds[status],
    ]);
    expect(response.headers.get('x-service-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('x-should-retry')).toBe(mayRepeat ? null : 'false');
    return vendor.textOf(body);
  };

  it('is 400 for a body that is not a JSON object', async () => {
    const { path } = vendor.call(vendor.model);
    const key = await keyOf();
    for (const body of ['[1]', '{"contents":', '{"a":1}}'])
      await failed(await send(gateway(), key, { path, body }), 400, 'invalid_input');
    const strange = { 'idempotency-key': 'a b' };
    await failed(await send(gateway(), key, undefined, strange), 400, 'invalid_input');
  });

  it('is 400 for a body of too many members or levels, also with names that are not JSON', async () => {
    const { path } = vendor.call(vendor.model);
    const key = await keyOf();
    const bodies = [
      `{${'"\\x":0,'.repeat(100_000)}"model":"${vendor.model}"}`,
      `{${'"":0,'.repeat(10_001)}"model":"${vendor.model}"}`,
      `{"model":"${vendor.model}",${'"\\ud800":0,'.repeat(10_001)}"a":0}`,
      `{"model":"${vendor.model}","a":${'['.repeat(64)}${']'.repeat(64)}}`,
    ];
    for (const body of bodies) await failed(await send(gateway(), key, { path, body }), 400, 'invalid_input');
  });

  it('is 401 without a usable key', async () => {
    await failed(await send(gateway(), 'wrong'), 401, 'unauthorized');
    const list = await fetch(`${gateway().url}${vendor.base}/models`);
    await failed(list, 401, 'unauthorized');
  });

  it('is 402 when the credits do not cover the call', async () => {
    const answer = await send(gateway(), await keyOf({ balanceMicros: 0 }));
    await failed(answer, 402, 'insufficient_credits');
  });

  it('is 403 for a model that the caller may see but not run', async () => {
    await failed(await send(gateway(), await keyOf({ runnable: [] })), 403, 'forbidden');
  });

  it('is 404 with a suggestion for an unknown model, and for one that the caller may not see', async () => {
    const answer = await send(gateway(), await keyOf(), vendor.call(`${vendor.model}x`));
    const text = await failed(answer, 404, 'model_not_found');
    expect(text).toContain(`There is no such model. Did you mean ${vendor.model}`);
    const hidden = await send(gateway(), await keyOf({ visible: ['bfl/*'] }));
    expect(await failed(hidden, 404, 'model_not_found')).toBe('There is no such model.');
  });

  it('is 404 for every other path and method', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/nothing/here'],
      ['POST', '/models'],
      ['DELETE', `/models/${vendor.model}`],
      ['PUT', vendor.call(vendor.model).path.replace(vendor.base, '')],
    ] as const)
      await failed(await fetch(`${gateway().url}${vendor.base}${path}`, { method }), 404, 'invalid_input');
  });

  it('is 413 for a body above the limit', async () => {
    const { path } = vendor.call(vendor.model);
    const body = JSON.stringify({ model: vendor.model, text: 'x'.repeat(10_000) });
    await failed(await send(small(), await keyOf({}, small()), { path, body }), 413, 'invalid_input');
  });

  it('is 415 for a body of another media type', async () => {
    const type = { 'content-type': 'text/plain' };
    await failed(await send(gateway(), await keyOf(), undefined, type), 415, 'invalid_input');
  });

  it('is 422 with the names of the rejected fields', async () => {
    const wrong = { max_output_tokens: 'x', max_tokens: 'x', contents: 'x' };
    const answer = await send(gateway(), await keyOf(), vendor.call(vendor.model, wrong));
    expect(await failed(answer, 422, 'invalid_input')).toMatch(
      /^The model does not accept this input\. (max_output_tokens|max_tokens|contents): Input should be /,
    );
  });

  it('is 429 at the limit of calls in flight, and may be repeated', async () => {
    const answer = await send(gateway(), await keyOf({ inflightLimit: 0 }));
    await failed(answer, 429, 'concurrency_limit_exceeded', { mayRepeat: true });
  });

  it('is 502 for a run that its provider failed, which a client must not pay for again', async () => {
    const { caller, workspace } = await gateway().caller();
    const answering = send(gateway(), caller.key);
    const run = await gateway().admittedRun(workspace);
    const detail = 'The provider failed.';
    const failure = {
      outcome: 'failed',
      bucket: 'provider_error',
      status: 502,
      detail,
      billable: true,
    } as const;
    await gateway().finish(run, failure);
    const answer = await answering;
    expect(answer.headers.get('x-service-run-id')).toBe(run.requestId);
    expect(await failed(answer, 502, 'provider_error')).toBe(detail);
  });

  /** The answer of a call whose run fails so. */
  const failedRun = async (failure: Failure) => {
    const { caller, workspace } = await gateway().caller();
    const answering = send(gateway(), caller.key);
    const run = await gateway().admittedRun(workspace);
    await gateway().finish(run, { outcome: 'failed', billable: false, ...failure });
    const collected = await fetch(`${gateway().url}/v2/models/${run.model}/requests/${run.requestId}`, {
      headers: { 'x-api-key': caller.key },
    });
    return { answer: await answering, collected };
  };
  const rejected: Failure = {
    bucket: 'invalid_input',
    status: 422,
    detail: 'The model does not accept this input.',
    fields: [{ loc: ['body'], msg: 'Too long.', type: 'bad_request' }],
  };
  const busy: Failure = {
    bucket: 'service_unavailable',
    status: 503,
    detail: 'The provider is temporarily unavailable; try again later.',
  };

  it('is what the provider answered if it judged the input, and ours for every other route', async () => {
    const { answer, collected } = await failedRun({
      ...rejected,
      reply: { status: 400, body: vendor.verdict },
    });
    const body: unknown = await answer.clone().json();
    expect(body).toMatchObject(vendor.verdict);
    expect(await failed(answer, 400, 'invalid_input')).toBe('The prompt is too long.');
    expect([collected.status, await collected.json()]).toEqual([422, { detail: rejected.fields }]);
  });

  it('is ours if the provider answered in another form', async () => {
    for (const body of [
      { error: 'no' },
      { detail: [] },
      { error: { message: 'no' } },
      { error: { code: 400 } },
    ]) {
      const { answer } = await failedRun({ ...rejected, reply: { status: 400, body } });
      expect(await failed(answer, 422, 'invalid_input')).toContain('Too long.');
    }
  });

  it('is the provider’s status with our words if it does not accept calls, and may be repeated', async () => {
    for (const [status, afterMs, seconds] of [
      [429, 2_001, '3'],
      [529, 0, '1'],
    ] as const) {
      const { answer, collected } = await failedRun({ ...busy, reply: { status, afterMs } });
      expect(answer.headers.get('retry-after')).toBe(seconds);
      expect(await failed(answer, status, 'service_unavailable', { mayRepeat: true })).toBe(busy.detail);
      expect(collected.status).toBe(503);
    }
  });

  it('is 504 for a run that continues; a retry with the same key joins it, and another model is 409', async () => {
    const { caller, workspace } = await small().caller();
    const named = { 'idempotency-key': 'k' };
    await failed(await send(small(), caller.key, undefined, named), 504, 'deadline_exceeded');
    const run = await small().admittedRun(workspace);
    expect(run.model).toBe(vendor.id);
    const other = vendor.call(vendor.model, { temperature: 0.5, topK: 1 });
    await failed(await send(small(), caller.key, other, named), 409, 'invalid_input');
    await small().finish(run, {
      outcome: 'succeeded',
      mediaType: 'application/json',
      body: Buffer.from('{"late":true}'),
    });
    const retry = await send(small(), caller.key, undefined, named);
    expect([retry.status, await retry.text()]).toEqual([200, '{"late":true}']);
    expect(retry.headers.get('idempotent-replayed')).toBe('true');
    expect(retry.headers.get('x-service-run-id')).toBe(run.requestId);
    expect(retry.headers.get('x-service-cost-cents')).toMatch(/^[0-9.]+$/);
  });

  it('is not 404 for a retry of a run whose model the caller may no longer see: it collects the run', async () => {
    const { caller, workspace } = await small().caller();
    const named = { 'idempotency-key': 'k' };
    await failed(await send(small(), caller.key, undefined, named), 504, 'deadline_exceeded');
    await small().operate((workspaces) => workspaces.change(workspace.id, { visible: [] }, 'test'));
    const run = await small().admittedRun(workspace);
    await small().finish(run, {
      outcome: 'succeeded',
      mediaType: 'application/json',
      body: Buffer.from('{"late":true}'),
    });
    await waitFor(async () => (await send(small(), caller.key)).status === 404, {
      withinMs: 60_000,
      what: 'the gateway to hear of the change',
    });
    const retry = await send(small(), caller.key, undefined, named);
    expect([retry.status, await retry.text()]).toEqual([200, '{"late":true}']);
  });
});
