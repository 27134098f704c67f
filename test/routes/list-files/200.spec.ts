import type { Page, RouterFile } from '#schemas';
import { expect, it } from '@jest/globals';
import type { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const scopes = ['run', 'requests'];

const page = async (caller: Caller, query = '') =>
  (await caller.call('GET', `/v2/files${query}`)).json() as Page<RouterFile>;

it('lists each file as a single read shows it, newest first, in pages, without deleted files or another workspace’s', async () => {
  const { caller } = await gateway().caller({}, scopes);
  const ids: string[] = [];
  for (const body of ['1', '22', '333', '4444'])
    ids.push(String((await caller.call('POST', '/v2/files', { body })).json()['id']));
  const deleted = ids.pop();
  expect((await caller.call('DELETE', `/v2/files/${deleted}`)).status).toBe(204);
  const first = await page(caller, '?limit=2');
  const second = await page(caller, `?limit=2&cursor=${encodeURIComponent(first.next_cursor ?? '')}`);
  const listed = [...first.data, ...second.data];
  expect(listed.map(({ id }) => id)).toEqual(ids.toReversed());
  expect(listed.map(({ size }) => size)).toEqual([3, 2, 1]);
  expect([first.has_more, second.has_more]).toEqual([true, false]);
  for (const file of listed) {
    const { url: _signedAnew, ...looked } = (await caller.call('GET', `/v2/files/${file.id}`)).json();
    expect(file).toMatchObject(looked);
    expect((await fetch(file.url.replace('http://assets.test', gateway().url))).status).toBe(200);
  }
  const stranger = await gateway().caller({}, scopes);
  expect(await page(stranger.caller)).toEqual({ data: [], has_more: false, limit: 20 });
});
