import { describe, expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

describe('with a public https address', () => {
  const gateway = sharedGateway('small');

  it('the entry has the address of the schema document', async () => {
    const { caller } = await gateway().caller();
    expect((await caller.call('GET', '/v2/models/bfl/flux-2-pro')).json()).toEqual({
      id: 'bfl/flux-2-pro',
      provider: 'bfl',
      model: 'flux-2-pro',
      billing: { charges_on_policy_rejection: 'no' },
      input_schema_url: 'https://router.example/v2/models/bfl/flux-2-pro/openapi.json',
    });
  });

  it('a model that the caller may see but not run has an entry', async () => {
    const { caller } = await gateway().caller({ runnable: [] });
    expect((await caller.call('GET', '/v2/models/bfl/flux-2-pro')).status).toBe(200);
  });
});

describe('without one', () => {
  const gateway = sharedGateway();

  it('the entry has no address', async () => {
    const { caller } = await gateway().caller();
    const answer = await caller.call('GET', '/v2/models/bfl/flux-2-pro');
    expect(answer.json()).not.toHaveProperty('input_schema_url');
  });
});
