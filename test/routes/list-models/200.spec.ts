import { expect, it } from '@jest/globals';
import { gatewayForFile } from '../gateway-for-file.js';

const gateway = gatewayForFile();

interface Page {
  data: { id: string; provider: string; model: string; billing: unknown }[];
  has_more: boolean;
  next_cursor?: string;
  limit: number;
}

it('lists every runnable model once, in the order of ids, over pages of any size', async () => {
  const { caller } = await gateway().caller();
  const whole = (await caller.call('GET', '/v2/models?limit=100')).json() as unknown as Page;
  expect(whole.has_more).toBe(false);
  expect(whole).not.toHaveProperty('next_cursor');
  const ids = whole.data.map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(3);
  expect(ids).toEqual(ids.toSorted());
  expect(whole.data[0]).toEqual({
    id: ids[0],
    provider: ids[0]?.split('/')[0],
    model: ids[0]?.split('/')[1],
    billing: { charges_on_policy_rejection: expect.stringMatching(/^(yes|no|unknown)$/) },
  });

  const collected: string[] = [];
  let cursor: string | undefined;
  do {
    const query = cursor === undefined ? 'limit=3' : `limit=3&cursor=${encodeURIComponent(cursor)}`;
    const page = (await caller.call('GET', `/v2/models?${query}`)).json() as unknown as Page;
    expect(page.limit).toBe(3);
    expect(page.has_more).toBe(page.next_cursor !== undefined);
    collected.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  expect(collected).toEqual(ids);
});

it.each([
  ['', 20],
  ['?limit=0', 20],
  ['?limit=-5', 20],
  ['?limit=1', 1],
  ['?limit=100', 100],
  ['?limit=101', 100],
  ['?limit=99999999999999999999', 100],
  ['?limit=2&unknown=1', 2],
])('serves %s with a page size of %i', async (query, served) => {
  const { caller } = await gateway().caller();
  expect((await caller.call('GET', `/v2/models${query}`)).json()).toMatchObject({ limit: served });
});

it('holds only models that the caller may both see and run', async () => {
  const { caller } = await gateway().caller({ visible: ['bfl/*'], runnable: ['bfl/flux-2-*', 'fal/*'] });
  const page = (await caller.call('GET', '/v2/models')).json() as unknown as Page;
  expect(page.data.length).toBeGreaterThan(0);
  for (const { id } of page.data) expect(id).toMatch(/^bfl\/flux-2-/);
});
