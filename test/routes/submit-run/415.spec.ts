import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const path = '/v2/models/bfl/flux-2-pro/requests';

it.each([
  ['text/plain', {}],
  ['application/x-www-form-urlencoded', {}],
  ['multipart/form-data; boundary=x', {}],
  ['application/jsonp', {}],
  ['application/json', { 'content-encoding': 'gzip' }],
])('rejects %s %j', async (type, encoding: Record<string, string>) => {
  const { caller } = await gateway().caller();
  const headers = { 'content-type': type, ...encoding };
  const answer = await caller.call('POST', path, { body: '{"prompt":"x"}', headers });
  expect([answer.status, answer.bucket]).toEqual([415, 'invalid_input']);
  expect(answer.json()['detail']).toContain('without a Content-Encoding');
});
