import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each(['cursor=x', 'kind=x', 'limit=x'])('%s is rejected', async (query) => {
  const { caller } = await gateway().caller({}, ['manage']);
  const answer = await caller.call('GET', `/v2/keys?${query}`);
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});
