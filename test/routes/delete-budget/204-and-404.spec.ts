import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('a deleted budget refuses no more runs, and is unknown like one of another workspace', async () => {
  const { caller } = await gateway().caller({}, ['run', 'manage']);
  const stranger = (await gateway().caller({}, ['manage'])).caller;
  const path = '/v2/budgets/daily';
  await caller.call('PUT', path, { body: '{"window":"day","limit_cents":1}' });
  const run = () => caller.call('POST', '/v2/models/bfl/flux-2-pro/requests', { body: '{"prompt":"x"}' });
  expect((await run()).status).toBe(429);
  expect((await stranger.call('DELETE', path)).status).toBe(404);
  expect((await caller.call('DELETE', path)).status).toBe(204);
  expect((await run()).status).toBe(201);
  for (const [method, url] of [
    ['DELETE', path],
    ['GET', path],
    ['GET', `${path}/values`],
    ['GET', '/v2/budgets/a%00b'],
  ] as const)
    expect(await caller.call(method, url)).toMatchObject({ status: 404, bucket: 'invalid_input' });
});
