import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each(['bfl/flux-2-prp', 'nobody/nothing', 'BFL/flux-2-pro', 'bfl/flux-2/pro'])(
  'knows no model %s, whatever the body is',
  async (id) => {
    const { caller } = await gateway().caller();
    const answer = await caller.call('POST', `/v2/models/${id}/requests`, { body: 'not JSON' });
    expect([answer.status, answer.bucket]).toEqual([404, 'model_not_found']);
  },
);

it('does not reveal a model that the caller may not see', async () => {
  const { caller } = await gateway().caller({ visible: ['fal/*'] });
  const answer = await caller.call('POST', '/v2/models/bfl/flux-2-pro/requests', { body: '{"prompt":"x"}' });
  expect([answer.status, answer.bucket]).toEqual([404, 'model_not_found']);
});
