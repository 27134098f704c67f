import { sealCursor } from '#catalog';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const ours = { secrets: ['a-secret-of-tests-for-cursors-00000000'], nowMs: Date.now() };
const ofRequests = sealCursor('0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234', { ...ours, list: 'requests' });

it.each([
  ['an unknown state', '/v2/webhooks/deliveries?state=lost'],
  ['a made-up cursor', '/v2/webhooks/deliveries?cursor=abc'],
  ['a cursor of another list', `/v2/webhooks/deliveries?cursor=${ofRequests}`],
  ['a cursor of another list', `/v2/files?cursor=${ofRequests}`],
  ['a limit that is not an integer', '/v2/files?limit=many'],
])('rejects %s as invalid_input: %s', async (_what, path) => {
  const { caller } = await gateway().caller({}, ['requests']);
  const answer = await caller.call('GET', path);
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});
