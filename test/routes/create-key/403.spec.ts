import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('a caller cannot grant a scope it does not have', async () => {
  const { caller } = await gateway().caller({}, ['manage', 'run']);
  const body = '{"name":"a","scopes":["run","usage"]}';
  const answer = await caller.call('POST', '/v2/keys', { body });
  expect([answer.status, answer.bucket]).toEqual([403, 'forbidden']);
  expect(answer.json()['detail']).toContain('"usage"');
  expect((await caller.call('GET', '/v2/keys')).json()['data']).toHaveLength(1);
});
