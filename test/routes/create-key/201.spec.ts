import type { RouterNewKey } from '#schemas';
import { expect, it } from '@jest/globals';
import { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('makes a key that works at once, and shows its text this once', async () => {
  const { caller } = await gateway().caller({}, ['manage', 'catalog', 'run']);
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  const answer = await caller.call('POST', '/v2/keys', {
    body: JSON.stringify({ name: ' web app ', scopes: ['catalog', 'catalog'], expires_at: expires }),
  });
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
  const made = answer.json() as RouterNewKey;
  expect(made).toEqual({
    id: expect.any(String),
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
});
