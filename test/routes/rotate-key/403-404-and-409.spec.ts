import { expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('is refused for keys that would outlive the caller, and for scopes that it lacks', async () => {
  const { caller, keyId, keyWith } = await gateway().caller({}, ['manage', 'run']);
  const rotated = async (id: unknown, by = caller) => {
    const answer = await by.call('POST', `/v2/keys/${id}/rotate`);
    return [answer.status, answer.bucket];
  };
  const made = await caller.call('POST', '/v2/keys', { body: '{"name":"a","scopes":["run","manage"]}' });
  const other = await keyWith({}, ['manage', 'run']);
  for (const [id, by] of [
    [keyId, caller],
    [made.json()['id'], other],
  ] as const)
    expect(await rotated(id, by)).toEqual([403, 'forbidden']);
  const narrow = await keyWith({}, ['manage']);
  expect(await rotated(made.json()['id'], narrow)).toEqual([403, 'forbidden']);

  const { caller: stranger } = await gateway().caller({}, ['manage', 'run']);
  for (const id of [v7(), 'x']) expect(await rotated(id)).toEqual([404, 'invalid_input']);
  expect(await rotated(made.json()['id'], stranger)).toEqual([404, 'invalid_input']);
  await caller.call('DELETE', `/v2/keys/${made.json()['id']}`);
  expect(await rotated(made.json()['id'])).toEqual([409, 'invalid_input']);
});
