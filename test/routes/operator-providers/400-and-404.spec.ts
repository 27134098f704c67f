import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('an unknown provider gets suggestions', async () => {
  const { caller } = await gateway().caller({}, ['operate']);
  const path = '/v2/operator/providers/recaft';
  for (const answer of [
    await caller.call('GET', path),
    await caller.call('POST', `${path}/pause`, { body: '{"reason":"x"}' }),
    await caller.call('DELETE', `${path}/pause`),
  ]) {
    expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
    expect(answer.json()['detail']).toContain('recraft');
  }
});

it.each([
  '{}',
  '{"reason":" "}',
  '{"reason":"x","until":1}',
  '{"reason":"a\\u0000"}',
  '{"reason":"\\ud800"}',
])('the pause %s is rejected', async (body) => {
  const { caller } = await gateway().caller({}, ['operate']);
  const answer = await caller.call('POST', '/v2/operator/providers/vidu/pause', { body });
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});
