import { beforeAll, describe, expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { bearer, routerRoutes } from '../generations.js';

const gateway = sharedGateway('small');
const routes = routerRoutes.filter(([, path]) => path.startsWith('/v1/'));

let token: string;
let key: string;
let workspaceId: string;
beforeAll(async () => {
  const { caller, workspace } = await gateway().caller();
  key = caller.key;
  workspaceId = workspace.id;
  token = (await bearer(workspaceId)).authorization;
});

/** Status and bucket of a call with exactly these credentials. */
async function answered(method: string, path: string, headers: Record<string, string>) {
  const response = await fetch(`${gateway().url}${path}`, {
    method,
    headers: { ...headers, ...(method === 'POST' && { 'content-type': 'application/json' }) },
    ...(method === 'POST' && { body: '{"prompt":"x"}' }),
  });
  await response.body?.cancel();
  expect(response.headers.get('x-service-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  return [response.status, response.headers.get('x-service-error-type')];
}

const refused = [401, 'unauthorized'];

describe.each(routes)('%s %s', (method, path) => {
  // No worker takes the run, so an accepted call runs into its deadline.
  const letIn = method === 'POST' ? [504, 'deadline_exceeded'] : [200, null];

  it('accepts an access token, and ignores an X-API-Key beside it, good or bad', async () => {
    expect(await answered(method, path, { authorization: token })).toEqual(letIn);
    expect(await answered(method, path, { authorization: token, 'x-api-key': 'wrong' })).toEqual(letIn);
    expect(await answered(method, path, { authorization: token, 'x-api-key': key })).toEqual(letIn);
  });

  it('accepts no API key, as header or as Bearer', async () => {
    expect(await answered(method, path, {})).toEqual(refused);
    expect(await answered(method, path, { 'x-api-key': key })).toEqual(refused);
    expect(await answered(method, path, { authorization: `Bearer ${key}` })).toEqual(refused);
    expect(await answered(method, path, { authorization: 'Bearer wrong', 'x-api-key': key })).toEqual(
      refused,
    );
  });

  it('requires its scope', async () => {
    const other = method === 'POST' ? 'catalog' : 'run';
    const { authorization } = await bearer(workspaceId, other);
    expect(await answered(method, path, { authorization })).toEqual([403, 'forbidden']);
  });
});

it('on v2 a bad X-API-Key is rejected, whatever Bearer is sent with it', async () => {
  for (const [method, path] of routerRoutes.filter(([, path]) => path.startsWith('/v2/')))
    expect(await answered(method, path, { authorization: token, 'x-api-key': 'wrong' })).toEqual(refused);
});

it('v1 has no queue routes', async () => {
  const run = '/v1/models/bfl/flux-2-pro/requests';
  for (const [method, path] of [
    ['POST', run],
    ['GET', `${run}/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234`],
    ['PUT', `${run}/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234/cancel`],
  ] as const)
    expect(await answered(method, path, { authorization: token })).toEqual([404, 'invalid_input']);
});

it('v1 has no cost estimate: its path counts as a three-segment id', async () => {
  for (const method of ['GET', 'POST'])
    expect(await answered(method, '/v1/models/bfl/flux-2-pro/cost', { authorization: token })).toEqual([
      404,
      'model_not_found',
    ]);
});
