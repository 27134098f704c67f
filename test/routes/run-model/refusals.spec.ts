import { describe, expect, it } from '@jest/globals';
import { type RouteGateway, sharedGateway } from '../gateways.js';
import { bearer, generations } from '../generations.js';

const gateway = sharedGateway();
const small = sharedGateway('small');

describe.each(generations)('a rejected call on %s', (generation) => {
  const path = `/${generation}/models/bfl/flux-2-pro`;

  const call = async (
    facts: Parameters<RouteGateway['caller']>[0],
    url = path,
    body = '{"prompt":"x"}',
    headers: Record<string, string> = {},
  ) => {
    const { caller, workspace } = await gateway().caller(facts);
    return caller.call('POST', url, { body, headers: { ...(await bearer(workspace.id)), ...headers } });
  };

  it('is 400 for a body that is not a JSON object, and for malformed headers', async () => {
    for (const answer of [
      await call({}, path, '[1]'),
      await call({}, path, '{"prompt":'),
      await call({}, path, '{"prompt":"x"}', { 'idempotency-key': 'a b' }),
      await call({}, path, '{"prompt":"x"}', { 'x-service-tags': 'a' }),
      await call({}, path, '{"prompt":"x"}', { 'x-service-user': 'a b' }),
    ])
      expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([400, 'invalid_input']);
  });

  it('is 402 when the credits do not cover the call', async () => {
    const answer = await call({ balanceMicros: 0 });
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([
      402,
      'insufficient_credits',
    ]);
  });

  it('is 403 for a model that the caller may see but not run', async () => {
    const answer = await call({ runnable: [] });
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([403, 'forbidden']);
  });

  it('is 404 for an unknown model, and for one that the caller may not see', async () => {
    for (const answer of [await call({}, `${path}x`), await call({ visible: ['fal/*'] })])
      expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([404, 'model_not_found']);
  });

  it('is 409 for a used key with another body', async () => {
    const { caller, workspace } = await small().caller();
    const headers = { ...(await bearer(workspace.id)), 'idempotency-key': 'k' };
    expect((await caller.call('POST', path, { body: '{"prompt":"x"}', headers })).status).toBe(504);
    const answer = await caller.call('POST', path, { body: '{"prompt":"y"}', headers });
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([409, 'invalid_input']);
  });

  it('is 413 for a body above the limit', async () => {
    const { caller, workspace } = await small().caller();
    const body = JSON.stringify({ prompt: 'x'.repeat(10_000) });
    const answer = await caller.call('POST', path, { body, headers: await bearer(workspace.id) });
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([413, 'invalid_input']);
  });

  it('is 415 for a body of another media type', async () => {
    const answer = await call({}, path, 'x', { 'content-type': 'text/plain' });
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([415, 'invalid_input']);
  });

  it('is 422 with one entry per rejected field, and no error_type in the body', async () => {
    const answer = await call({}, path, '{"width":1,"safety_tolerance":9}');
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([422, 'invalid_input']);
    const { detail, ...rest } = answer.json() as { detail: { loc: unknown; type: string }[] };
    expect(rest).toEqual({});
    expect(detail.map(({ loc, type }) => [loc, type])).toEqual([
      [['body', 'prompt'], 'missing'],
      [['body', 'width'], 'greater_than_equal'],
      [['body', 'safety_tolerance'], 'less_than_equal'],
    ]);
  });
});
