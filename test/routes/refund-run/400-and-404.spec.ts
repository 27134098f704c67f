import { expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each(['[]', '{"note":" "}', '{"note":"a\\u0000"}', '{"cents":5}'])(
  'the body %s is rejected',
  async (body) => {
    const { caller } = await gateway().caller({}, ['operate']);
    const answer = await caller.call('POST', `/v2/operator/runs/${v7()}/refund`, { body });
    expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  },
);

it.each([v7(), 'no-id', 'a%00'])('the run %s is unknown', async (id) => {
  const { caller } = await gateway().caller({}, ['operate']);
  const answer = await caller.call('POST', `/v2/operator/runs/${id}/refund`, { body: '{}' });
  expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
  expect(answer.json()['detail']).toBe('There is no such run, or its records have expired.');
});
