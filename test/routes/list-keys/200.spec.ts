import { expect, it } from '@jest/globals';
import type { Page, RouterKey } from '#schemas';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('lists the keys of the workspace without their texts, and no other workspace’s', async () => {
  await gateway().caller({}, ['manage']);
  const { caller, keyId } = await gateway().caller({}, ['manage']);
  const answer = await caller.call('GET', '/v2/keys');
  expect(answer.json()).toEqual({
    data: [
      {
        id: keyId,
        kind: 'key',
        name: 'test',
        prefix: caller.key.slice(0, 16),
        scopes: ['manage'],
        state: 'live',
        created_at: expect.any(String),
      },
    ],
    has_more: false,
    limit: 20,
  });
});

it('returns pages, newest first, with the keys’ makers', async () => {
  const { caller, keyId } = await gateway().caller({}, ['manage', 'run']);
  const ids: unknown[] = [];
  for (let count = 0; count < 3; count += 1) {
    const made = await caller.call('POST', '/v2/keys', { body: '{"name":"a","scopes":["run"]}' });
    ids.unshift(made.json()['id']);
  }
  const listed: RouterKey[] = [];
  let cursor = '';
  do {
    const page = await caller.call('GET', `/v2/keys?limit=2${cursor}`);
    const { data, next_cursor: next } = page.json() as Page<RouterKey>;
    listed.push(...data);
    cursor = next === undefined ? '' : `&cursor=${encodeURIComponent(next)}`;
  } while (cursor !== '');
  expect(listed.map(({ id }) => id)).toEqual([...ids, keyId]);
  expect(listed.map((key) => key.made_by)).toEqual([keyId, keyId, keyId, undefined]);
});
