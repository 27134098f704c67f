import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const model = 'bfl/flux-2-pro';

it.each(['0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234', 'x'])('there is no run %s', async (requestId) => {
  const { caller } = await gateway().caller({}, ['manage']);
  const answer = await caller.call('DELETE', `/v2/requests/${requestId}`);
  expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
});

it('a run of another workspace is unknown, and keeps its data', async () => {
  const { caller } = await gateway().caller({}, ['run', 'requests']);
  const run = await caller.submit(model, '{"prompt":"x"}');
  await gateway().finish(run, { outcome: 'cancelled' });
  const stranger = await gateway().caller({}, ['manage']);
  const answer = await stranger.caller.call('DELETE', `/v2/requests/${run.requestId}`);
  expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
  expect((await caller.call('GET', `/v2/requests/${run.requestId}/input`)).status).toBe(200);
});

it('a live run is not deleted', async () => {
  const { caller } = await gateway().caller({}, ['run', 'manage']);
  const run = await caller.submit(model, '{"prompt":"x"}');
  for (const move of [async () => {}, () => gateway().dispatch(run)]) {
    await move();
    const answer = await caller.call('DELETE', `/v2/requests/${run.requestId}`);
    expect([answer.status, answer.bucket]).toEqual([409, 'invalid_input']);
    expect((await caller.status(run)).status).toBe(200);
  }
});
