import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each([
  ['an unknown field', '{"limit":1}'],
  ['an unknown limit', '{"limits":{"inflights":1}}'],
  ['a negative limit', '{"limits":{"inflight":-1}}'],
  ['a part of a cent', '{"add_credits_cents":0.5}'],
  ['no credits to add', '{"add_credits_cents":0}'],
  ['a mark-up that is too large', '{"markup":101}'],
  ['two ways to change credits', '{"credits_cents":5,"add_credits_cents":5}'],
  ['a NUL in the note', '{"note":"\\u0000","add_credits_cents":1}'],
  ['half a surrogate pair in the note', '{"note":"\\ud800","add_credits_cents":1}'],
  ['a NUL in a glob', '{"visible":["\\u0000"]}'],
  ['half a surrogate pair in a glob', '{"runnable":["\\ud800*"]}'],
  ['no object', '[]'],
])('%s is rejected, and nothing changes', async (_what, body) => {
  const { caller, workspace } = await gateway().caller({}, ['operate']);
  const answer = await caller.call('PATCH', `/v2/operator/workspaces/${workspace.id}`, { body });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  expect(await gateway().operate((all) => all.find(workspace.id))).toEqual(workspace);
});

it('a cursor of another list is rejected', async () => {
  const { caller } = await gateway().caller({}, ['operate']);
  const answer = await caller.call('GET', '/v2/operator/workspaces?cursor=abc');
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});

it('a search for a NUL is rejected', async () => {
  const { caller } = await gateway().caller({}, ['operate']);
  const answer = await caller.call('GET', '/v2/operator/workspaces?q=a%00');
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  expect(answer.json()['detail']).toBe('q must not contain control characters.');
});
