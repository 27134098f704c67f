import { expect, it } from '@jest/globals';
import type { RouterModelFullEntry } from '#schemas';
import { routerModelFullListResponse } from '../../../libs/schemas/src/model-shapes.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

/** All pages of the list for this query. */
async function listed(query: string): Promise<RouterModelFullEntry[]> {
  const { caller } = await gateway().caller();
  const entries: RouterModelFullEntry[] = [];
  let next: string | undefined;
  do {
    const cursor = next === undefined ? '' : `&cursor=${encodeURIComponent(next)}`;
    const answer = await caller.call('GET', `/v2/models?${query}${cursor}`);
    const page = routerModelFullListResponse.strict().parse(answer.json());
    entries.push(...page.data);
    next = page.next_cursor;
  } while (next !== undefined);
  return entries;
}
const ids = async (query: string) => (await listed(`view=full&limit=100&${query}`)).map(({ id }) => id);

it('describes every listed model', async () => {
  const { caller } = await gateway().caller();
  const plain = (await caller.call('GET', '/v2/models?limit=100')).json() as { data: { id: string }[] };
  const full = await listed('view=full&limit=40');
  expect(full.slice(0, 100).map(({ id }) => id)).toEqual(plain.data.map(({ id }) => id));
  expect(full.find(({ id }) => id === 'byteplus/seedance-1-0-pro-250528')).toEqual({
    id: 'byteplus/seedance-1-0-pro-250528',
    provider: 'byteplus',
    model: 'seedance-1-0-pro-250528',
    billing: { charges_on_policy_rejection: expect.any(String) },
    title: 'Seedance 1.0 Pro',
    description: expect.stringMatching(/\.$/),
    input_modalities: ['text', 'image'],
    output_modalities: ['video'],
    tasks: ['text-to-video', 'image-to-video'],
    price: {
      from_usd: expect.any(Number),
      unit: expect.any(String),
      text: expect.stringContaining('$'),
      date: expect.stringMatching(/^2026-/),
    },
    added: expect.stringMatching(/^2026-/),
    aliases: ['bytedance/seedance-1.0-pro'],
    example_output: expect.objectContaining({ status: 'succeeded' }),
    servers: ['byteplus'],
  });
  for (const { id, title, output_modalities, price } of full)
    expect([id, typeof title, output_modalities.length > 0, price.from_usd > 0]).toEqual([
      id,
      'string',
      true,
      true,
    ]);
});

it('filters by provider, by output modality and by words, including aliases', async () => {
  expect(new Set((await ids('provider=veo')).map((id) => id.split('/')[0]))).toEqual(new Set(['veo']));
  expect(await ids('provider=nobody')).toEqual([]);
  const threeD = await listed('view=full&modality=3d&limit=2');
  expect(threeD.length).toBeGreaterThan(3);
  for (const { output_modalities } of threeD) expect(output_modalities).toContain('3d');
  expect(await ids('q=bytedance/seedream-4.0')).toEqual(['byteplus/seedream-4-0-250828']);
  expect(await ids('q=SEEDREAM%204.5&provider=byteplus')).toEqual(['byteplus/seedream-4-5-251128']);
});

it('is optional: without it, entries are the usual ones', async () => {
  const { caller } = await gateway().caller();
  const plain = await caller.call('GET', '/v2/models?limit=1&provider=veo');
  expect(plain.json()).toMatchObject({ data: [{ provider: 'veo', billing: {} }] });
  expect((plain.json()['data'] as object[])[0]).not.toHaveProperty('title');
});

it.each([
  'view=short',
  'view=',
  'view=full&view=full',
  'modality=smell',
  'provider=No%20One',
  'provider=a&provider=b',
  'q=',
  `q=${'a'.repeat(201)}`,
])('rejects %s as invalid_input', async (query) => {
  const { caller } = await gateway().caller();
  const answer = await caller.call('GET', `/v2/models?${query}`);
  expect([answer.status, answer.bucket]).toEqual([400, 'invalid_input']);
});
