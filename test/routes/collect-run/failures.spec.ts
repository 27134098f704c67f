import { expect, it } from '@jest/globals';
import { type Bucket, buckets } from '#errors';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

const endings: Bucket[] = [
  'content_policy_violation',
  'provider_error',
  'provider_timeout',
  'internal_error',
  'service_unavailable',
];

it.each(endings)('%s answers its recorded status and text', async (bucket) => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const { status } = buckets[bucket];
  await gateway().finish(run, {
    outcome: 'failed',
    bucket,
    status,
    detail: `Ended as ${bucket}.`,
    billable: false,
  });
  const answer = await caller.collect(run);
  expect([answer.status, answer.bucket]).toEqual([status, bucket]);
  expect(answer.bytes.toString()).toBe(JSON.stringify({ detail: `Ended as ${bucket}.`, error_type: bucket }));
});

it('a rejected input answers 422 with the rejected fields', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const fields = [{ loc: ['body', 'prompt'], msg: 'Too rude', type: 'provider_reason', input: null }];
  await gateway().finish(run, {
    outcome: 'failed',
    bucket: 'invalid_input',
    status: 422,
    detail: 'Rejected.',
    fields,
    billable: false,
  });
  const answer = await caller.collect(run);
  expect([answer.status, answer.bucket]).toEqual([422, 'invalid_input']);
  expect(answer.json()).toEqual({ detail: fields });
});
