import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway('small');

it('the body must be JSON, and small', async () => {
  const { caller } = await gateway().caller({}, ['manage']);
  const headers = { 'content-type': 'text/plain' };
  expect((await caller.call('POST', '/v2/keys', { body: '{}', headers })).status).toBe(415);
  expect((await caller.call('POST', '/v2/keys', { body: ' '.repeat(20_000_000) })).status).toBe(413);
});
