import { describe, expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { bearer, generations } from '../generations.js';

const gateway = sharedGateway();

describe.each(generations)('a refused call on %s', (generation) => {
  const path = `/${generation}/models/bfl/flux-2-pro`;

  const call = async (
    facts: Parameters<ReturnType<typeof gateway>['caller']>[0],
    asked = path,
    body = '{"prompt":"x"}',
  ) => {
    const { caller, workspace } = await gateway().caller(facts);
    return caller.call('POST', asked, { body, headers: await bearer(workspace.id) });
  };

  it('is 403 for a model that may be seen and not run', async () => {
    const answer = await call({ runnable: [] });
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([403, 'forbidden']);
  });

  it('is 404 for an unknown model, and for one that may not be seen', async () => {
    for (const answer of [await call({}, `${path}x`), await call({ visible: ['fal/*'] })])
      expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([404, 'model_not_found']);
  });

  it('is 422 with one entry a failing field, and no error_type in the body', async () => {
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
