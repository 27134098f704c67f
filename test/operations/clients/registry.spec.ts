// The calls that comfy-cli and ComfyUI-Manager make to a registry, and what they read from the answers.
import { beforeAll, expect, it } from '@jest/globals';
import { failOnLeftovers } from '../../harness/index.js';
import { putGiven } from '../../registry/registry-side.js';
import { gatewayForFile } from '../../routes/gateways.js';

/** The parts of a node that the two read; comfy-cli reads these members without a default. */
interface Listed {
  id: string;
  name: string;
  description: string;
  latest_version?: { id: string; version: string };
}

const gateway = gatewayForFile();
const nodes = Array.from({ length: 95 }, (_, index) => ({
  id: `node-${String(index).padStart(2, '0')}`,
  created_at: '2025-01-01T00:00:00Z',
  supported_os: index % 19 === 0 ? ['Microsoft :: Windows'] : [],
  latest_version: index % 2 === 0 ? { version: '1.0.0', createdAt: '2025-01-02T00:00:00Z' } : undefined,
}));
const idsOf = (listed: readonly Listed[]) => listed.map(({ id }) => id).toSorted();

beforeAll(async () => {
  await putGiven(await gateway().database.dataSource(), nodes);
});

async function get(query: string): Promise<{ totalPages: number; nodes: Listed[] }> {
  const answer = await fetch(`${gateway().url}/nodes${query}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as { totalPages: number; nodes: Listed[] };
}

it('list_all_nodes of comfy-cli gets the first page, with every member it needs', async () => {
  const { nodes: listed } = await get('');
  const text = expect.any(String) as unknown;
  const needed = { id: text, name: text, description: text };
  const latest_version = { id: text, version: '1.0.0' };
  expect(listed).toMatchObject(
    nodes.slice(0, 10).map((node) => ({ ...needed, ...(node.latest_version && { latest_version }) })),
  );
});

const page = (number: number, formFactor: string) =>
  get(`?page=${number}&limit=30&comfyui_version=v0.3.60&form_factor=${formFactor}`);

it('ComfyUI-Manager finds every node page after page', async () => {
  const listed: Listed[] = [];
  for (let number = 1, pages = 1; number <= pages; number += 1) {
    const { totalPages, nodes: some } = await page(number, 'git-windows');
    pages = totalPages;
    listed.push(...some);
  }
  expect(idsOf(listed)).toEqual(nodes.map(({ id }) => id));
});

it('ComfyUI-Manager finds every node of its system in pages that it reads in parallel', async () => {
  const { totalPages, nodes: first } = await page(1, 'git-linux');
  const others = await Promise.all(
    Array.from({ length: totalPages - 1 }, (_, index) => page(index + 2, 'git-linux')),
  );
  const ofLinux = nodes.filter(({ supported_os: systems }) => systems.length === 0);
  expect(idsOf([...first, ...others.flatMap(({ nodes: some }) => some)])).toEqual(
    ofLinux.map(({ id }) => id),
  );
});

failOnLeftovers();
