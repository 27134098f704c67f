import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('a waiting run has ended before the answer', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const answer = await caller.cancel(run);
  expect(answer.status).toBe(202);
  expect(answer.bytes.toString()).toBe(
    JSON.stringify({ request_id: run.requestId, status: 'CANCELLATION_REQUESTED' }),
  );
  expect((await caller.status(run)).json()['status']).toBe('COMPLETED');
});

it('the next parked run gets the slot', async () => {
  const { caller } = await gateway().caller({ inflightLimit: 1 });
  const first = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  const second = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await caller.cancel(first);
  await gateway().dispatch(second);
  expect((await caller.status(second)).json()['status']).toBe('IN_PROGRESS');
});

it('a dispatched run records the request, however often it comes and whatever body it has', async () => {
  const { caller } = await gateway().caller();
  const run = await caller.submit('bfl/flux-2-pro', '{"prompt":"x"}');
  await gateway().dispatch(run);
  const path = `/v2/models/bfl/flux-2-pro/requests/${run.requestId}/cancel`;
  for (const options of [{}, { body: '{}' }, { body: 'x', headers: { 'content-type': 'text/plain' } }]) {
    const answer = await caller.call('PUT', path, options);
    expect(answer.status).toBe(202);
    expect(answer.json()).toEqual({ request_id: run.requestId, status: 'CANCELLATION_REQUESTED' });
  }
  expect((await caller.status(run)).json()['status']).toBe('IN_PROGRESS');
});
