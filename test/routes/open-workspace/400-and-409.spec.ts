import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each([
  ['no name', '{}'],
  ['a name that looks like an id', '{"name":"0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234"}'],
  ['a name with a line break', '{"name":"a\\nb"}'],
  ['a key with the scope `operate`', '{"name":"x","key":{"scopes":["operate"]}}'],
  ['a key without scopes', '{"name":"x","key":{"scopes":[]}}'],
  ['negative credits', '{"name":"x","credits_cents":-1}'],
  ['an unknown field', '{"name":"x","plan":"gold"}'],
])('%s is rejected', async (_what, body) => {
  const { caller } = await gateway().caller({}, ['operate']);
  const answer = await caller.call('POST', '/v2/operator/workspaces', { body });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  expect((await gateway().operate((all) => all.names())).includes('x')).toBe(false);
});

it('a taken name is refused, and its workspace gets no key', async () => {
  const { caller, workspace } = await gateway().caller({}, ['operate', 'manage']);
  const body = JSON.stringify({ name: workspace.name });
  const answer = await caller.call('POST', '/v2/operator/workspaces', { body });
  expect([answer.status, answer.bucket, answer.json()['detail']]).toEqual([
    409,
    'invalid_input',
    `There is already a workspace "${workspace.name}".`,
  ]);
  expect((await caller.call('GET', '/v2/keys')).json()['data']).toHaveLength(1);
});
