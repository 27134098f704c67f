import { beforeAll, expect, it } from '@jest/globals';
import { NodeModerationRepository } from '#persistence';
import type { DataSource } from 'typeorm';
import { failOnLeftovers } from '../harness/index.js';
import { putGiven, registryForFile, type RegistryReader } from './registry-side.js';

const nodes = 400;
const ids = Array.from({ length: nodes }, (_, index) => `node-${String(index).padStart(3, '0')}`);

const registry = registryForFile();
let reader: RegistryReader;
let dataSource: DataSource;
beforeAll(async () => {
  ({ dataSource, reader } = registry());
  await putGiven(
    dataSource,
    ids.map((id, index) => ({
      id,
      name: `Name ${index % 37}`,
      category: `category ${index % 3}`,
      created_at: new Date(Date.UTC(2024, 0, 1) + (index % 50) * 86_400_000).toISOString(),
      downloads: index,
      publisher: { id: `publisher-${index % 9}` },
    })),
  );
});

const some = (turn: number) => ids.filter((_id, index) => (index * 7 + turn) % 20 === 0);

/** Keeps changing nodes until it is stopped, with every change except adding one. */
function startWriter() {
  const moderation = new NodeModerationRepository(dataSource);
  const state = { stopped: false };
  const write = async (turn: number) => {
    const version = { version: `1.0.${turn}`, createdAt: new Date().toISOString() };
    await putGiven(
      dataSource,
      some(turn).map((id) => ({ id, downloads: (turn * 9973) % 1009, latest_version: version })),
    );
    await moderation.ban('node', ids[(turn * 31) % nodes] ?? '', null, 'test');
    await moderation.unban('node', ids[((turn - 3) * 31) % nodes] ?? '', 'test');
    await moderation.ban('publisher', `publisher-${turn % 9}`, null, 'test');
    await moderation.unban('publisher', `publisher-${(turn + 4) % 9}`, 'test');
  };
  let current = Promise.resolve();
  const ended = (async () => {
    for (let turn = 3; !state.stopped; turn += 1) await (current = write(turn));
  })();
  // The caller that awaits it gets the failure.
  ended.catch(() => {});
  return {
    /** Resolves when the current write is done. */
    another: async () => current,
    stop: async () => {
      state.stopped = true;
      await ended;
    },
  };
}

it.each([
  'latest=true&limit=9',
  'limit=9',
  'latest=true&limit=9&sort=name',
  'latest=true&limit=9&sort=id;desc',
  'latest=true&limit=9&sort=category;desc&sort=created_at',
])('finds every node once while nodes are changed: ?%s', async (query) => {
  const writer = startWriter();
  try {
    const walked: (string | undefined)[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      if (page % 8 === 0) await writer.another();
      const list = await reader.list(`${query}&page=${page}`);
      expect(list.total).toBe(nodes);
      pages = list.totalPages;
      walked.push(...list.nodes.map(({ id }) => id));
    }
    expect(walked).toHaveLength(nodes);
    expect(new Set(walked)).toEqual(new Set(ids));
  } finally {
    await writer.stop();
  }
});

failOnLeftovers();
