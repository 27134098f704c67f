import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each(['cursor=abc', 'request_id=x', 'limit=many'])('rejects %s as invalid_input', async (query) => {
  const { caller } = await gateway().caller({}, ['requests']);
  const answer = await caller.call('GET', `/v2/refusals?${query}`);
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});
