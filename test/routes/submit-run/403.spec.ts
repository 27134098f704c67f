import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('a model that the caller may see but not run is rejected', async () => {
  const { caller } = await gateway().caller({ runnable: ['fal/*'] });
  const answer = await caller.call('POST', '/v2/models/bfl/flux-2-pro/requests', { body: '{"prompt":"x"}' });
  expect([answer.status, answer.bucket]).toEqual([403, 'forbidden']);
});

it('a call that contradicts a tag of its key is rejected; one that repeats it is not', async () => {
  const { keyWith } = await gateway().caller();
  const caller = await keyWith({ project: 'alpha' });
  const submit = (tags: string) =>
    caller.call('POST', '/v2/models/bfl/flux-2-pro/requests', {
      body: '{"prompt":"x"}',
      headers: { 'x-service-tags': tags },
    });
  const refused = await submit('team=web,project=beta');
  expect([refused.status, refused.bucket]).toEqual([403, 'forbidden']);
  expect(refused.json()['detail']).toContain('project=alpha');
  expect((await submit('team=web,project=alpha')).status).toBe(201);
});
