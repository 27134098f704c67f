import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('a model that the caller may see but not run is rejected', async () => {
  const { caller } = await gateway().caller({ runnable: ['fal/*'] });
  const answer = await caller.call('POST', '/v2/models/bfl/flux-2-pro/requests', { body: '{"prompt":"x"}' });
  expect([answer.status, answer.bucket]).toEqual([403, 'forbidden']);
});
