import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('says that the run has ended, with the bucket in the header', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await gateway().finish(run, {
    outcome: 'succeeded',
    mediaType: 'application/json',
    body: Buffer.from('{}'),
  });
  const answer = await caller.cancel(run);
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
  expect(answer.bytes.toString()).toBe(
    JSON.stringify({ request_id: run.requestId, status: 'ALREADY_COMPLETED' }),
  );
  expect((await caller.collect(run)).status).toBe(200);
});
