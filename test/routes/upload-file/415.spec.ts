import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it.each([
  ['a form', { 'content-type': 'multipart/form-data; boundary=x' }],
  ['a compressed file', { 'content-type': 'image/png', 'content-encoding': 'gzip' }],
])('%s is rejected, because the body is the file itself', async (_what, headers) => {
  const { caller } = await gateway().caller();
  const answer = await caller.call('POST', '/v2/files', { body: '--x--', headers });
  expect([answer.status, answer.bucket]).toEqual([415, 'invalid_input']);
});
