import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('a caller cannot grant a scope it does not have', async () => {
  const { caller } = await gateway().caller({}, ['manage', 'run']);
  const answer = await caller.call('POST', '/v2/sign-in/links?scopes=run,usage');
  expect([answer.status, answer.bucket]).toEqual([403, 'forbidden']);
  expect(answer.json()['detail']).toContain('"usage"');
});
