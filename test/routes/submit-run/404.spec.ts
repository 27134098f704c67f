import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each(['bfl/flux-2-prp', 'nobody/nothing', 'BFL/flux-2-pro', 'bfl/flux-2/pro'])(
  'the model %s is unknown, whatever the body',
  async (id) => {
    const { caller } = await gateway().caller();
    const answer = await caller.call('POST', `/v2/models/${id}/requests`, { body: 'not JSON' });
    expect([answer.status, answer.bucket]).toEqual([404, 'model_not_found']);
  },
);

it('a model that the caller may not see is unknown', async () => {
  const { caller } = await gateway().caller({ visible: ['fal/*'] });
  const answer = await caller.call('POST', '/v2/models/bfl/flux-2-pro/requests', { body: '{"prompt":"x"}' });
  expect([answer.status, answer.bucket]).toEqual([404, 'model_not_found']);
});
