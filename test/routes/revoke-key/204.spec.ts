import { ApiKeyRepository } from '#persistence';
import { expect, it } from '@jest/globals';
import { Caller } from '../../harness/caller.js';
import { waitFor } from '../../harness/wait-for.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('ends a key, also one that is known to the gateway, and may be repeated', async () => {
  const { caller, workspace } = await gateway().caller({}, ['manage']);
  const { key, row } = await new ApiKeyRepository(gateway().database).create(
    workspace.id,
    {
      name: 'leaked',
      scopes: ['catalog'],
      expiresAt: null,
    },
    { actor: 'test' },
  );
  const holder = new Caller(() => [gateway().url], key);
  expect((await holder.call('GET', '/v2/models')).status).toBe(200);
  for (let times = 0; times < 2; times += 1) {
    const answer = await caller.call('DELETE', `/v2/keys/${row.id}`);
    expect([answer.status, answer.bytes.length]).toEqual([204, 0]);
  }
  await waitFor(async () => (await holder.call('GET', '/v2/models')).status === 401, {
    withinMs: 60_000,
    what: 'the key to be refused',
  });
  expect((await caller.call('GET', '/v2/keys')).json()['data']).toContainEqual(
    expect.objectContaining({ id: row.id, state: 'revoked', revoked_at: expect.any(String) }),
  );
});
