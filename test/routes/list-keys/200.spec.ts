import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('lists the keys of the workspace without their texts, and no other workspace’s', async () => {
  await gateway().caller({}, ['manage']);
  const { caller, keyId } = await gateway().caller({}, ['manage']);
  const answer = await caller.call('GET', '/v2/keys');
  expect(answer.json()).toEqual({
    data: [
      {
        id: keyId,
        name: 'test',
        prefix: caller.key.slice(0, 16),
        scopes: ['manage'],
        state: 'live',
        created_at: expect.any(String),
      },
    ],
  });
});
