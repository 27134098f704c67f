import { expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('is refused for keys that would outlive the caller, and for scopes that it lacks', async () => {
  const { caller, keyId, keyWith } = await gateway().caller({}, ['manage', 'run']);
  const rotated = async (id: string, by = caller) => {
    const answer = await by.call('POST', `/v2/keys/${id}/rotate`);
    return [answer.status, answer.bucket];
  };
  const made = await caller.call('POST', '/v2/keys', { body: '{"name":"a","scopes":["run","manage"]}' });
  const madeId = String(made.json()['id']);
  const other = await keyWith({}, ['manage', 'run']);
  for (const [id, by] of [
    [keyId, caller],
    [madeId, other],
  ] as const)
    expect(await rotated(id, by)).toEqual([403, 'forbidden']);
  const narrow = await keyWith({}, ['manage']);
  expect(await rotated(madeId, narrow)).toEqual([403, 'forbidden']);

  const { caller: stranger } = await gateway().caller({}, ['manage', 'run']);
  for (const id of [v7(), 'x']) expect(await rotated(id)).toEqual([404, 'invalid_input']);
  expect(await rotated(madeId, stranger)).toEqual([404, 'invalid_input']);
  await caller.call('DELETE', `/v2/keys/${madeId}`);
  expect(await rotated(madeId)).toEqual([409, 'invalid_input']);
});
