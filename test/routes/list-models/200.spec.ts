import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

interface Page {
  data: { id: string; provider: string; model: string; billing: unknown }[];
  has_more: boolean;
  next_cursor?: string;
  limit: number;
}

it('lists every runnable model once, ordered by id, whatever the page size', async () => {
  const { caller } = await gateway().caller();
  const read = async (query: string) =>
    (await caller.call('GET', `/v2/models?${query}`)).json() as unknown as Page;
  const pages = async (limit: number) => {
    const entries: Page['data'] = [];
    let cursor: string | undefined;
    do {
      const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await read(`limit=${limit}${after}`);
      expect(page.limit).toBe(limit);
      expect(page.has_more).toBe(page.next_cursor !== undefined);
      entries.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    return entries;
  };
  const listed = await pages(100);
  const ids = listed.map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(3);
  expect(ids).toEqual([...new Set(ids)].toSorted());
  expect(listed[0]).toEqual({
    id: ids[0],
    provider: ids[0]?.split('/')[0],
    model: ids[0]?.split('/')[1],
    billing: { charges_on_policy_rejection: expect.stringMatching(/^(yes|no|unknown)$/) },
  });

  expect((await pages(7)).map(({ id }) => id)).toEqual(ids);
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
])('%s gets a page size of %i', async (query, served) => {
  const { caller } = await gateway().caller();
  expect((await caller.call('GET', `/v2/models${query}`)).json()).toMatchObject({ limit: served });
});

it('lists only models that the caller may both see and run', async () => {
  const { caller } = await gateway().caller({ visible: ['bfl/*'], runnable: ['bfl/flux-2-*', 'fal/*'] });
  const page = (await caller.call('GET', '/v2/models')).json() as unknown as Page;
  expect(page.data.length).toBeGreaterThan(0);
  for (const { id } of page.data) expect(id).toMatch(/^bfl\/flux-2-/);
});
