import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const scopes = ['requests', 'manage'];
const asked = { body: '{"url":"https://hooks.example.com/test"}' };

it('makes a test event due, which is listed and has no model', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const answer = await caller.call('POST', '/v2/webhooks/test', asked);
  const { request_id: id, ...delivery } = answer.json();
  expect([answer.status, delivery]).toEqual([
    202,
    {
      test: true,
      url: 'https://hooks.example.com/test',
      form: 'standard',
      state: 'pending',
      tries: 0,
      created_at: expect.any(String),
      next_try_at: expect.any(String),
    },
  ]);
  const detail = await caller.call('GET', `/v2/webhooks/deliveries/${String(id)}`);
  expect(detail.json()).toEqual({ ...answer.json(), attempts: [] });
  const stranger = await gateway().caller({}, scopes);
  expect((await stranger.caller.call('GET', `/v2/webhooks/deliveries/${String(id)}`)).status).toBe(404);
});
