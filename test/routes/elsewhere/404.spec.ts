import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each([
  ['GET', '/v2'],
  ['GET', '/v2/'],
  ['GET', '/v2?x=1'],
  ['GET', '/v2/models/'],
  ['POST', '/v2/models'],
  ['DELETE', '/v2/models/bfl/flux-2-pro'],
  ['GET', '/v2/models/bfl/flux-2-pro/requests'],
  ['PATCH', '/v2/models/bfl/flux-2-pro/requests'],
  ['POST', '/v2/models/bfl/flux-2-pro/openapi.json'],
  ['GET', '/v2/models/bfl/flux-2-pro/cost'],
  ['POST', '/v2/models/bfl/flux-2-pro/requests/x/status'],
  ['GET', '/v2/models/bfl/flux-2-pro/requests/x/cancel'],
  ['GET', '/v2/models/a/b/c/d'],
  ['GET', '/v2/%zz'],
  ['GET', '/v%32/nothing'],
  ['OPTIONS', '/v2/models'],
  ['QUERY', '/v2/models'],
  ['GET', '/v1/anything'],
])('%s %s answers with the router’s error', async (method, path) => {
  const { caller } = await gateway().caller();
  const body = method === 'POST' ? { body: '{}' } : {};
  const answer = await caller.call(method, path, body);
  expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
});

it.each(['/console/assets/none.js', '/v3', '/v22/models', '/unknown', '/%zz', '//v2/models'])(
  'GET %s answers with the registry’s error',
  async (path) => {
    const response = await fetch(`${gateway().url}${path}`);
    expect(response.status).toBe(404);
    expect(response.headers.get('x-service-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await response.json()).toEqual({ error: 'not_found', message: expect.any(String) });
  },
);

async function read(path: string, headers: Record<string, string>) {
  const answer = await fetch(`${gateway().url}${path}`, { headers });
  await answer.arrayBuffer();
  return [answer.status, answer.headers.get('content-type')?.split(';')[0]];
}

it('a browser gets a page, outside the API', async () => {
  const html = { accept: 'text/html,application/xhtml+xml' };
  expect(await read('/unknown', html)).toEqual([404, 'text/html']);
  expect(await read('/unknown', { accept: '*/*' })).toEqual([404, 'application/json']);
  expect(await read('/v2/unknown', html)).toEqual([404, 'application/json']);
});
