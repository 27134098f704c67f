import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('a key of another workspace, an unknown key and a key’s text are not found', async () => {
  const { caller } = await gateway().caller({}, ['manage']);
  const other = await gateway().caller({}, ['manage']);
  for (const id of [other.keyId, '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234', caller.key.slice(0, 16)]) {
    const answer = await caller.call('DELETE', `/v2/keys/${id}`);
    expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
  }
  expect((await other.caller.call('GET', '/v2/keys')).status).toBe(200);
});
