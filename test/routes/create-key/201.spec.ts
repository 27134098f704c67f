import { ApiKeyRepository } from '#persistence';
import type { RouterNewKey } from '#schemas';
import { expect, it } from '@jest/globals';
import { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';
import { operatorActions } from '../operator-actions.js';

const gateway = sharedGateway();

it('a new key works at once, and its text is shown only here', async () => {
  const { caller, keyId } = await gateway().caller({}, ['manage', 'catalog', 'run']);
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const answer = await caller.call('POST', '/v2/keys', {
    body: JSON.stringify({ name: ' web app ', scopes: ['catalog', 'catalog'], expires_at: expires }),
  });
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
  const made = answer.json() as RouterNewKey;
  expect(made).toEqual({
    id: expect.any(String),
    kind: 'key',
    made_by: keyId,
    name: 'web app',
    prefix: made.key.slice(0, 16),
    scopes: ['catalog'],
    state: 'live',
    created_at: expect.any(String),
    expires_at: expires,
    key: expect.stringMatching(/^rk_live_[0-9A-Za-z]{36}$/),
  });
  const holder = new Caller(() => [gateway().url], made.key);
  expect((await holder.call('GET', '/v2/models')).status).toBe(200);
  expect((await holder.call('GET', '/v2/keys')).status).toBe(403);
  const { key, ...withoutText } = made;
  const listed = await caller.call('GET', '/v2/keys');
  expect(listed.json()['data']).toContainEqual(withoutText);
  expect(listed.bytes.toString()).not.toContain(key);
  expect(await operatorActions(gateway(), made.id)).toMatchObject([
    { actor: `key:${keyId}`, action: 'key.create', details: { name: 'web app', scopes: ['catalog'] } },
  ]);
});

it('a key made by an expiring key expires with it', async () => {
  const { workspace } = await gateway().caller();
  const expiresAt = new Date(Date.now() + 4_000_000);
  const { key } = await new ApiKeyRepository(gateway().database).create(
    workspace.id,
    { name: 'ends', scopes: ['manage', 'run'], expiresAt },
    { actor: 'test' },
  );
  const ends = new Caller(() => [gateway().url], key);
  const made = await ends.call('POST', '/v2/keys', { body: '{"name":"a","scopes":["run"]}' });
  expect(made.json()['expires_at']).toBe(expiresAt.toISOString());
  const later = JSON.stringify({
    name: 'a',
    scopes: ['run'],
    expires_at: new Date(expiresAt.getTime() + 1).toISOString(),
  });
  const refused = await ends.call('POST', '/v2/keys', { body: later });
  expect([refused.status, refused.json()['detail']]).toEqual([400, expect.stringContaining('later than')]);
});
