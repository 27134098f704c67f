import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('a withdrawn run answers 410 for a week after it expired, then 404', async () => {
  const { caller } = await gateway().caller();
  const withdrawn = async (ago: string) => {
    const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
    await gateway().finish(run, { outcome: 'cancelled' }, { ago });
    return run;
  };
  const kept = await withdrawn('23 hours');
  expect((await caller.cancel(kept)).json()).toEqual({
    request_id: kept.requestId,
    status: 'ALREADY_COMPLETED',
  });
  const aged = await withdrawn('25 hours');
  const answer = await caller.cancel(aged);
  expect([answer.status, answer.bucket]).toEqual([410, 'invalid_input']);
  expect(answer.bytes.equals((await caller.collect(aged)).bytes)).toBe(true);
  expect((await caller.cancel(await withdrawn('9 days'))).status).toBe(404);
});
