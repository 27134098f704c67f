import { expect, it } from '@jest/globals';
import { gatewayForFile } from '../gateway-for-file.js';

const gateway = gatewayForFile();

it('says that a cancelled run was withdrawn', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await caller.cancel(run);
  const answer = await caller.collect(run);
  expect([answer.status, answer.bucket]).toEqual([409, 'client_disconnected']);
});
