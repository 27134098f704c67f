import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('follows a run from its queue position to its end', async () => {
  const { caller } = await gateway().caller({ inflightLimit: 1 });
  const first = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const second = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const run = `${gateway().url}/v2/models/bfl/flux-2-pro/requests/${second.requestId}`;
  const urls = { status_url: `${run}/status`, response_url: run, cancel_url: `${run}/cancel` };
  const identity = { request_id: second.requestId };

  expect((await caller.status(second)).bytes.toString()).toBe(
    JSON.stringify({ ...identity, status: 'IN_QUEUE', queue_position: 1, ...urls }),
  );
  await gateway().finish(first, {
    outcome: 'succeeded',
    mediaType: 'application/json',
    body: Buffer.from('{}'),
  });
  expect((await caller.status(second)).json()).toEqual({
    ...identity,
    status: 'IN_QUEUE',
    queue_position: 0,
    ...urls,
  });
  await gateway().finish(second, {
    outcome: 'succeeded',
    mediaType: 'application/json',
    body: Buffer.from('{}'),
  });
  expect((await caller.status(second)).bytes.toString()).toBe(
    JSON.stringify({ ...identity, status: 'COMPLETED', ...urls }),
  );
});

it('says IN_PROGRESS, without a position, while the provider works', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await gateway().dispatch(run);
  const body = (await caller.status(run)).json();
  expect(body['status']).toBe('IN_PROGRESS');
  expect(body).not.toHaveProperty('queue_position');
  expect(body).not.toHaveProperty('error_type');
});

it('gives the reason why a run did not succeed', async () => {
  const { caller } = await gateway().caller();
  const failed = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await gateway().finish(failed, {
    outcome: 'failed',
    bucket: 'content_policy_violation',
    status: 400,
    detail: 'Refused.',
    billable: false,
  });
  expect((await caller.status(failed)).json()).toMatchObject({
    status: 'COMPLETED',
    error_type: 'content_policy_violation',
  });
  const cancelled = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await caller.cancel(cancelled);
  expect((await caller.status(cancelled)).json()).toMatchObject({
    status: 'COMPLETED',
    error_type: 'client_disconnected',
  });
});
