import { beforeAll, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { failOnLeftovers } from '../harness/index.js';
import { type NaiveNode, naivePage, type NaiveQuery } from './naive-registry.js';
import { type GivenNode, putGiven, registryForFile, type RegistryReader } from './registry-side.js';

const own = registryForFile();
let reader: RegistryReader;
let dataSource: DataSource;
beforeAll(() => {
  ({ dataSource, reader } = own());
});

const systems = [
  'OS Independent',
  'MacOS',
  'MacOS :: MacOS X',
  'POSIX',
  'POSIX :: Linux',
  'POSIX :: Linux :: Ubuntu',
  'Microsoft :: Windows',
  'Microsoft :: Windows :: Windows 10',
];
const accelerators = ['CUDA', 'DirectML', 'ROCm'];
// Few values, so that many are equal; one of them sorts differently by code units and by code points.
const word = fc.constantFrom('a', 'B', 'b', 'é', '\u{ff5e}', '\u{1f600}', '');
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const moment = fc.constantFrom(
  '2023-01-01T00:00:00.000Z',
  '2024-06-30T12:00:00.001Z',
  '2024-06-30T12:00:00.002Z',
);

const version = fc.record({
  createdAt: moment,
  status: fc.constantFrom('NodeVersionStatusActive', 'NodeVersionStatusBanned', 'NodeVersionStatusPending'),
});
const node = fc.record({
  name: word,
  author: maybe(word),
  category: maybe(word),
  created_at: moment,
  downloads: maybe(fc.integer({ min: 0, max: 2 })),
  github_stars: maybe(fc.integer({ min: 0, max: 2 })),
  rating: maybe(fc.constantFrom(0, 2.5, 4)),
  search_ranking: maybe(fc.integer({ min: -1, max: 1 })),
  status: fc.constantFrom('NodeStatusActive', 'NodeStatusActive', 'NodeStatusBanned', 'NodeStatusDeleted'),
  supported_os: maybe(fc.subarray(systems)),
  supported_accelerators: maybe(fc.subarray(accelerators)),
  app: maybe(fc.record({ from: fc.integer({ min: 0, max: 2 }), below: fc.integer({ min: 3, max: 4 }) })),
  publisher: maybe(fc.constantFrom('good', 'bad')),
  versions: fc.array(version, { maxLength: 3 }),
});
const registry = fc.array(node, { minLength: 1, maxLength: 40 }).map((nodes) =>
  nodes.map(({ publisher, versions, ...facts }, index): NaiveNode => ({
    ...facts,
    id: `node-${String((index * 7) % 41)}`,
    ...(publisher && {
      publisher: {
        id: publisher,
        status: publisher === 'good' ? 'PublisherStatusActive' : 'PublisherStatusBanned',
      },
    }),
    versions: versions.map((each, number) => ({ ...each, version: `1.${number}.0` })),
  })),
);

const columns = [
  'id',
  'name',
  'author',
  'category',
  'created_at',
  'updated_at',
  'downloads',
  'github_stars',
  'rating',
  'search_ranking',
  'status',
  'create_time',
  'total_install',
  'total_star',
  'total_review',
  'last_updated',
  'update_time',
  'last_algolia_index_time',
  'normalized_id',
];
const query = fc.record(
  {
    page: fc.integer({ min: -1, max: 5 }),
    limit: fc.integer({ min: -1, max: 12 }),
    supported_os: fc.constantFrom(...systems, 'POSIX :: Linux :: Debian', 'POSI'),
    supported_accelerator: fc.constantFrom(...accelerators, 'MPS'),
    include_banned: fc.boolean(),
    timestamp: moment,
    sort: fc.array(
      fc.tuple(fc.constantFrom(...columns), fc.constantFrom('', ';desc')).map((parts) => parts.join('')),
      {
        maxLength: 3,
      },
    ),
    node_id: fc.array(
      fc.integer({ min: 0, max: 45 }).map((index) => `node-${index}`),
      { minLength: 1, maxLength: 8 },
    ),
    app_version: fc.constantFrom('0.5', '1.2.3', '2.0.0', '3.9', '4.0.1'),
    form_factor: fc.constantFrom('git-win', 'desktop-windows', 'desktop-mac', 'x-linux', 'cloud', 'linux'),
  },
  { requiredKeys: [] },
);

const given = ({ app, ...facts }: NaiveNode): GivenNode => ({
  ...facts,
  ...(app && { supported_app_version: `>=${app.from}.0.0,<${app.below}` }),
});

/** The three ways to write an array, in turns. */
function spelled(asked: NaiveQuery, turn: number): URLSearchParams {
  const text = new URLSearchParams({ latest: 'true' });
  for (const [name, value] of Object.entries(asked)) {
    const brackets = Array.isArray(value) && turn % 2 === 1 ? '[]' : '';
    for (const each of [value].flat()) text.append(`${name}${brackets}`, String(each));
  }
  return text;
}

it('answers every combination of parameters according to the rules', async () => {
  await fc.assert(
    fc.asyncProperty(registry, fc.array(query, { minLength: 12, maxLength: 12 }), async (nodes, queries) => {
      await dataSource.query('TRUNCATE node, node_version, publisher, publisher_member');
      await putGiven(dataSource, nodes.map(given));
      for (const [turn, asked] of queries.entries()) {
        const list = await reader.list(spelled(asked, turn).toString());
        const { nodes: listed, ...counts } = list;
        expect({
          ids: listed.map(({ id }) => id),
          latest: listed.map(({ latest_version }) => latest_version?.version),
          ...counts,
        }).toEqual(naivePage(nodes, asked));
      }
    }),
    { numRuns: 12 },
  );
});

failOnLeftovers();
