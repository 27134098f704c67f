import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('a mistyped name gets the nearest ones as suggestions', async () => {
  const { caller, workspace } = await gateway().caller({}, ['operate']);
  const mistyped = `${workspace.name.slice(0, -1)}~`;
  const answer = await caller.call('GET', `/v2/operator/workspaces/${encodeURIComponent(mistyped)}`);
  expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
  expect(answer.json()['detail']).toMatch(/^There is no such workspace\. Did you mean .+\?$/);
});

it.each(['nobody', '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234', '-'.repeat(36), 'a'.repeat(36), '%00', 'a%0Ab'])(
  'the workspace %s is unknown',
  async (name) => {
    const { caller } = await gateway().caller({}, ['operate']);
    const path = `/v2/operator/workspaces/${name}`;
    for (const answer of [await caller.call('GET', path), await caller.call('PATCH', path, { body: '{}' })])
      expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
  },
);
