import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each([
  ['an unknown action', 'action=key.crate', /^action must be one of .*key\.create/],
  ['no time', 'since=yesterday', /^since must be a time/],
  ['a control character', 'actor=a%00', /^actor must not contain control characters/],
  ['an empty subject', 'subject=', /^subject must not be empty/],
  ['a repeated workspace', 'workspace=a&workspace=b', /^workspace must not be repeated/],
  ['the cursor of nothing', 'cursor=abc', /^The cursor is malformed/],
])('a filter with %s is rejected', async (_what, query, detail) => {
  const { caller } = await gateway().caller({}, ['operate']);
  const answer = await caller.call('GET', `/v2/operator/audit?${query}`);
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  expect(answer.json()['detail']).toMatch(detail);
});

it('an unknown workspace gets suggestions', async () => {
  const { caller, workspace } = await gateway().caller({}, ['operate']);
  const mistyped = encodeURIComponent(`${workspace.name.slice(0, -1)}~`);
  const answer = await caller.call('GET', `/v2/operator/audit?workspace=${mistyped}`);
  expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
  expect(answer.json()['detail']).toMatch(/^There is no such workspace\. Did you mean .+\?$/);
});
