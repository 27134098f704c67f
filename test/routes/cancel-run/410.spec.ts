import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('tells a withdrawn run from a forgotten one for a week after its day', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await caller.cancel(run);
  expect((await caller.cancel(run)).json()).toEqual({
    request_id: run.requestId,
    status: 'ALREADY_COMPLETED',
  });
  await gateway().completedEarlier(run, 86_400);
  const aged = await caller.cancel(run);
  expect([aged.status, aged.bucket]).toEqual([410, 'invalid_input']);
  expect(aged.bytes.equals((await caller.collect(run)).bytes)).toBe(true);
  await gateway().completedEarlier(run, 7 * 86_400);
  expect((await caller.cancel(run)).status).toBe(404);
});
