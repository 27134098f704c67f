import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('a cancelled run answers that it was withdrawn', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await caller.cancel(run);
  const answer = await caller.collect(run);
  expect([answer.status, answer.bucket]).toEqual([409, 'client_disconnected']);
});
