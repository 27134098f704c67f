import { scopes } from '#schemas';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const file = '/v2/files/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
const run = '/v2/models/bfl/flux-2-pro/requests/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';

it.each([
  ['catalog', 'GET', '/v2/models'],
  ['catalog', 'GET', '/v2/models/bfl/flux-2-pro'],
  ['catalog', 'GET', '/v2/models/bfl/flux-2-pro/openapi.json'],
  ['run', 'POST', '/v2/models/bfl/flux-2-pro'],
  ['run', 'POST', '/v2/models/bfl/flux-2-pro/requests'],
  ['run', 'POST', '/v2/models/bfl/flux-2-pro/cost'],
  ['run', 'GET', run],
  ['run', 'GET', `${run}/status`],
  ['run', 'PUT', `${run}/cancel`],
  ['run', 'POST', '/v2/files'],
  ['run', 'GET', file],
  ['run', 'DELETE', file],
  ['requests', 'GET', '/v2/requests'],
  ['requests', 'GET', '/v2/requests/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234'],
  ['requests', 'GET', '/v2/requests/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234/input'],
  ['manage', 'DELETE', '/v2/requests/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234'],
  ['manage', 'PUT', '/v2/requests/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234/share'],
  ['manage', 'DELETE', '/v2/requests/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234/share'],
  ['requests', 'GET', '/v2/files'],
  ['requests', 'GET', '/v2/webhooks/deliveries'],
  ['manage', 'POST', '/v2/webhooks/deliveries/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234/redeliver'],
  ['requests', 'GET', '/v2/webhooks/deliveries/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234'],
  ['manage', 'POST', '/v2/webhooks/test'],
  ['usage', 'GET', '/v2/usage'],
  ['usage', 'GET', '/v2/ledger'],
  ['workspace', 'GET', '/v2/workspace'],
  ['run', 'GET', `${run}/status/stream`],
  ['manage', 'GET', '/v2/webhooks/secret'],
  ['manage', 'POST', '/v2/webhooks/secret'],
  ['manage', 'POST', '/v2/sign-in/links'],
  ['manage', 'GET', '/v2/budgets'],
  ['manage', 'GET', '/v2/budgets/daily'],
  ['manage', 'GET', '/v2/budgets/daily/values'],
  ['manage', 'PUT', '/v2/budgets/daily'],
  ['manage', 'DELETE', '/v2/budgets/daily'],
  ['manage', 'GET', '/v2/keys'],
  ['manage', 'POST', '/v2/keys'],
  ['manage', 'DELETE', '/v2/keys/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234'],
  ['provider_keys', 'GET', '/v2/provider-keys'],
  ['provider_keys', 'GET', '/v2/provider-keys/bfl'],
  ['provider_keys', 'PUT', '/v2/provider-keys/bfl'],
  ['provider_keys', 'DELETE', '/v2/provider-keys/bfl'],
  ['operate', 'GET', '/v2/operator/workspaces'],
  ['operate', 'GET', '/v2/operator/workspaces/nobody'],
  ['operate', 'PATCH', '/v2/operator/workspaces/nobody'],
  ['operate', 'POST', '/v2/operator/workspaces'],
  ['operate', 'POST', '/v2/operator/workspaces/nobody/sign-in-links'],
  ['operate', 'GET', '/v2/operator/providers'],
  ['operate', 'GET', '/v2/operator/providers/bfl'],
  ['operate', 'POST', '/v2/operator/providers/nobody/pause'],
  ['operate', 'DELETE', '/v2/operator/providers/nobody/pause'],
  ['operate', 'GET', '/v2/operator/queues'],
  ['operate', 'GET', '/v2/operator/runs'],
  ['operate', 'POST', '/v2/operator/runs/0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234/refund'],
  ['operate', 'GET', '/v2/operator/audit'],
])('the scope %s is required for %s %s', async (scope, method, path) => {
  const without = await gateway().caller(
    {},
    scopes.filter((each) => each !== scope),
  );
  const refused = await without.caller.call(method, path, method === 'POST' ? { body: '{}' } : {});
  expect([refused.status, refused.bucket]).toEqual([403, 'forbidden']);
  const holder = await gateway().caller({}, [scope]);
  const passed = await holder.caller.call(method, path, method === 'POST' ? { body: '{}' } : {});
  expect(passed.status).not.toBe(403);
});

it('a disabled workspace gets not_enabled', async () => {
  const { caller } = await gateway().caller({ enabled: false });
  const answer = await caller.call('GET', '/v2/models');
  expect([answer.status, answer.bucket]).toEqual([403, 'not_enabled']);
});
