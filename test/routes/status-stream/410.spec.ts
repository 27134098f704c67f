import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('answers 410 for an expired result', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const ending = { outcome: 'succeeded', mediaType: 'application/json', body: Buffer.from('{}') } as const;
  await gateway().finish(run, ending, { ago: '25 hours' });
  const answer = await caller.call('GET', `/v2/models/${run.model}/requests/${run.requestId}/status/stream`);
  expect([answer.status, answer.bucket]).toEqual([410, 'invalid_input']);
});
