import { beforeAll, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { NodeReader, type NodeSort, nodeSortColumns } from '#persistence';
import type { DataSource } from 'typeorm';
import { type NodeFilter, nodeSortExpressions } from '../../libs/persistence/src/registry/node-columns.js';
import { nodesById } from '../../libs/persistence/src/registry/nodes-by-id.js';
import { failOnLeftovers } from '../harness/index.js';
import { fillRegistry } from './many-nodes.js';
import { registryForFile } from './registry-side.js';

const nodes = 10_000;

const registry = registryForFile();
let dataSource: DataSource;
let reader: NodeReader;
beforeAll(async () => {
  ({ dataSource } = registry());
  await fillRegistry(dataSource, nodes, 2 * nodes);
  reader = new NodeReader(registry().database);
});

const nowhere = { sort: [], offset: 0, limit: 10, maxAgeMs: 0, includeBanned: true };

/** Each filter, and its equivalent in SQL. */
const filters: [name: string, filter: Partial<NodeFilter>, sql: string][] = [
  ['no filter', {}, 'true'],
  [
    'a system',
    { accepts: ({ supportedOs }) => supportedOs.includes('POSIX') },
    `'POSIX' = ANY (supported_os)`,
  ],
  [
    'a rare requirement',
    { accepts: ({ supportedAppVersion }) => supportedAppVersion === '>=6.0' },
    `supported_app_version = '>=6.0'`,
  ],
  ['a requirement that no node meets', { accepts: () => false }, 'false'],
  ['no banned nodes', { includeBanned: false }, 'NOT banned'],
  ['recent changes', { changedAfter: new Date('2022-03-01') }, `updated_at > '2022-03-01Z'`],
  ['ids', { nodeIds: ['node-c4ca4238a0b923820dcc509a6f75849b', 'nobody'] }, `id = 'node-' || md5('1')`],
  [
    'all of them',
    {
      accepts: ({ supportedAccelerators }) => supportedAccelerators.includes('CUDA'),
      changedAfter: new Date('2022-02-01'),
      includeBanned: false,
    },
    `'CUDA' = ANY (supported_accelerators) AND updated_at > '2022-02-01Z' AND NOT banned`,
  ],
];

const orderBy = (sort: readonly NodeSort[]): string =>
  [...sort, { column: 'id' as const, descending: false }]
    .map(
      ({ column, descending }) =>
        `${nodeSortExpressions[column]} ${descending ? 'DESC NULLS LAST' : 'ASC NULLS FIRST'}`,
    )
    .join(', ');

it('has the nodes that Postgres finds, in Postgres’ order', async () => {
  const key = fc.record({ column: fc.constantFrom(...nodeSortColumns), descending: fc.boolean() });
  const asked = fc.tuple(
    fc.uniqueArray(key, { maxLength: 4, selector: ({ column }) => column }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.integer({ min: 1, max: 100 }),
    fc.constantFrom(...filters),
  );
  await fc.assert(
    fc.asyncProperty(asked, async ([sort, part, limit, [, filter, sql]]) => {
      const found = await dataSource.query<{ id: string }[]>(
        `SELECT id FROM node WHERE status <> 'NodeStatusDeleted' AND ${sql} ORDER BY ${orderBy(sort)}`,
      );
      const offset = Math.floor(part * found.length);
      const page = await reader.page({ ...nowhere, ...filter, sort, offset, limit });
      expect([page.total, page.nodes.map(({ id }) => id)]).toEqual([
        found.length,
        found.slice(offset, offset + limit).map(({ id }) => id),
      ]);
    }),
    { numRuns: 50 },
  );
});

it('looks up the nodes of a page in indexes', async () => {
  const ids = await dataSource.query<{ id: string }[]>('SELECT id FROM node LIMIT 100');
  const plan = await dataSource.query<Record<string, string>[]>(`EXPLAIN ${nodesById}`, [
    ids.map(({ id }) => id),
    true,
  ]);
  const scans = plan.map((line) => line['QUERY PLAN'] ?? '').filter((line) => line.includes('Seq Scan'));
  expect(scans.filter((line) => !line.includes('registry_revision'))).toEqual([]);
});

it('shows every write at once with latest=true', async () => {
  const total = async (filter: Partial<NodeFilter> = {}) =>
    (await reader.page({ ...nowhere, ...filter })).total;
  const changedAfter = new Date('2022-04-01');
  const before = await total({ changedAfter });
  expect(await new NodeReader(registry().database).page({ ...nowhere, changedAfter })).toMatchObject({
    total: before,
  });
  const [found] = await dataSource.query<{ id: string }[]>(
    `SELECT id FROM node WHERE status <> 'NodeStatusDeleted' AND updated_at > '2022-04-01Z' LIMIT 1`,
  );
  const writings: [statement: string, total: number][] = [
    [`UPDATE node SET updated_at = '2022-01-01' WHERE id = $1`, before - 1],
    [`UPDATE node SET updated_at = now() WHERE id = $1`, before],
    [`DELETE FROM node WHERE id = $1`, before - 1],
    [
      `INSERT INTO node (id, name, description, status, created_at, updated_at, publisher_banned)
        VALUES ($1, '', '', 'NodeStatusActive', now(), now(), false)`,
      before,
    ],
    [`UPDATE node SET status = 'NodeStatusDeleted' WHERE id = $1`, before - 1],
  ];
  for (const [statement, then] of writings) {
    await dataSource.query(statement, [found?.id]);
    expect(await total({ changedAfter })).toBe(then);
  }
});

it('reads the columns once for all waiting calls, and again only after nodes were written', async () => {
  const { database } = registry();
  const pool = database.registry;
  const own = new NodeReader(database);
  let reads = 0;
  const snapshot = pool.snapshot.bind(pool);
  pool.snapshot = (use) => {
    reads += 1;
    return snapshot(use);
  };
  try {
    await Promise.all([0, 10, 20].map((offset) => own.page({ ...nowhere, offset })));
    await own.page(nowhere);
    expect(reads).toBe(1);
    await dataSource.query(`UPDATE node SET downloads = 1 WHERE id = 'nobody'`);
    await own.page(nowhere);
    expect(reads).toBe(1);
    await dataSource.query(`UPDATE node SET downloads = 1 WHERE id = (SELECT min(id) FROM node)`);
    await Promise.all([0, 10, 20].map((offset) => own.page({ ...nowhere, offset })));
    expect(reads).toBe(2);
  } finally {
    pool.snapshot = snapshot;
  }
});

it('reads the ranks of a column again for a new revision only if it was used to sort since the last one', async () => {
  const { database } = registry();
  const pool = database.registry;
  const own = new NodeReader(database);
  const sortedBy = (column: NodeSort['column']) =>
    own.page({ ...nowhere, sort: [{ column, descending: false }] });
  const snapshot = pool.snapshot.bind(pool);
  let ranked: string[] = [];
  pool.snapshot = (use) =>
    snapshot((query) =>
      use((text, values) => {
        ranked.push(...(/ORDER BY (\w+) NULLS FIRST/.exec(text)?.slice(1) ?? []));
        return query(text, values);
      }),
    );
  const rankedAfterWrite = async () => {
    ranked = [];
    await dataSource.query(`UPDATE node SET downloads = downloads + 1 WHERE id = (SELECT min(id) FROM node)`);
    await sortedBy('author');
    return ranked.toSorted();
  };
  try {
    await sortedBy('rating');
    expect(await rankedAfterWrite()).toEqual(['author', 'rating']);
    expect(await rankedAfterWrite()).toEqual(['author']);
    await sortedBy('rating');
    expect(ranked).toEqual(['author', 'rating']);
  } finally {
    pool.snapshot = snapshot;
  }
});

it('reports a failure to all waiting calls, and retries for the next page', async () => {
  const { database } = registry();
  const pool = database.registry;
  const own = new NodeReader(database);
  const snapshot = pool.snapshot.bind(pool);
  pool.snapshot = () => Promise.reject(new Error('away'));
  const failed = await Promise.allSettled([own.page(nowhere), own.page({ ...nowhere, offset: 10 })]);
  pool.snapshot = snapshot;
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect((await own.page(nowhere)).nodes).toHaveLength(10);
});

it('shows the same as another gateway while nodes are written', async () => {
  const [one, other] = [new NodeReader(registry().database), new NodeReader(registry().database)];
  for (let turn = 0; turn < 5; turn += 1) {
    await dataSource.query(
      `UPDATE node SET downloads = $1 WHERE id IN (SELECT id FROM node ORDER BY md5(id || $2) LIMIT 100)`,
      [turn, String(turn)],
    );
    const query = { ...nowhere, sort: [{ column: 'downloads' as const, descending: false }], limit: 100 };
    const { asOfMs: _one, ...page } = await one.page(query);
    const { asOfMs: _other, ...same } = await other.page(query);
    expect(same).toEqual(page);
    expect(page.nodes.map(({ downloads }) => downloads)).toEqual(
      page.nodes.map(({ downloads }) => downloads).toSorted((a = 0, b = 0) => a - b),
    );
  }
});

failOnLeftovers();
