import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('an unfinished run answers with its status', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  for (const state of ['IN_QUEUE', 'IN_PROGRESS']) {
    const answer = await caller.collect(run);
    expect(answer.status).toBe(202);
    expect(answer.json()['status']).toBe(state);
    expect(answer.bytes.toString()).toBe((await caller.status(run)).bytes.toString());
    if (state === 'IN_QUEUE') await gateway().dispatch(run);
  }
});
