import { beforeAll, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { type PageAsk, sortColumns, type SortKey } from '#persistence';
import { cutPage, type Read, totalOf } from '../../libs/persistence/src/registry/cut.js';
import { currentRevision, Findings } from '../../libs/persistence/src/registry/findings.js';
import { listedKinds, type NodeKind, passingKinds } from '../../libs/persistence/src/registry/kinds.js';
import { readPage } from '../../libs/persistence/src/registry/registry.js';
import { failOnLeftovers } from '../harness/index.js';
import { fillRegistry } from './many-nodes.js';
import { registryForFile } from './registry-side.js';

// Enough that the planner weighs a scan against an index; the benchmark asks the same of 100,000.
const nodes = 10_000;

const registry = registryForFile();
let dataSource: DataSource;
beforeAll(async () => {
  ({ dataSource } = registry());
  await fillRegistry(dataSource, nodes, 2 * nodes);
});

const asks = (list: readonly string[], ...any: string[]) =>
  list.length === 0 || list.some((each) => any.includes(each));

const filters: [name: string, filter: Omit<PageAsk, 'sort' | 'limit' | 'offset'>][] = [
  ['no filter', {}],
  ['a system', { admits: ({ supportedOs }) => asks(supportedOs, 'POSIX', 'OS Independent') }],
  ['an accelerator', { admits: ({ supportedAccelerators }) => asks(supportedAccelerators, 'CUDA') }],
  ['a rare demand', { admits: ({ supportedAppVersion }) => supportedAppVersion === '>=6.0' }],
  ['a demand nobody has', { admits: () => false }],
  ['a host version', { admits: ({ supportedAppVersion }) => (supportedAppVersion ?? '') < '>=3' }],
  ['no banned ones', { withoutBanned: true }],
  ['recent changes', { changedAfter: new Date('2022-10-01') }],
  ['changes since long', { changedAfter: new Date('2022-01-03') }],
  ['ids', { ids: ['node-1', 'node-2'] }],
  [
    'all of them',
    {
      admits: ({ supportedOs, supportedAccelerators, supportedAppVersion }) =>
        asks(supportedOs, 'MacOS') &&
        asks(supportedAccelerators, 'CUDA') &&
        (supportedAppVersion ?? '') < '>=2',
      changedAfter: new Date('2022-02-01'),
      withoutBanned: true,
    },
  ],
];

const ascending = (column: string): SortKey => ({ column: column as SortKey['column'], descending: false });
const descending = (column: string): SortKey => ({ column: column as SortKey['column'], descending: true });
const columns = Object.keys(sortColumns);
const orders: SortKey[][] = [
  [],
  ...columns.flatMap((column) => [[ascending(column)], [descending(column)]]),
  // What many nodes have in common comes first.
  [ascending('category'), descending('downloads')],
  [ascending('status'), descending('rating'), ascending('name')],
  [descending('rating'), ascending('category')],
  [descending('search_ranking'), descending('github_stars'), descending('created_at')],
  [ascending('author'), descending('updated_at')],
];

const read: Read = ({ text, values }) => dataSource.query(text, values);

async function passing(ask: PageAsk) {
  const kinds = passingKinds(ask, await read<NodeKind>(listedKinds));
  return { kinds, total: await totalOf(read, ask, kinds) };
}

it.each(filters)('cuts pages out of indexes with %s', async (_name, filter) => {
  const shared = { ...filter, sort: [], limit: 10, offset: 0 };
  const scans: string[] = [];
  const explaining: Read = async (query) => {
    const plan = await dataSource.query<Record<string, string>[]>(
      `EXPLAIN (COSTS OFF) ${query.text}`,
      query.values,
    );
    const found = plan.map((line) => line['QUERY PLAN'] ?? '').filter((line) => line.includes('Seq Scan'));
    // The kinds are few, and the exact total may be counted in any way.
    const isExempt = query === currentRevision || query === listedKinds || query.text.includes('AS total');
    if (!isExempt && found.length > 0) scans.push(`${query.text}: ${found.join(';')}`);
    return read(query);
  };
  const { total } = await passing(shared);
  for (const sort of orders) {
    for (const offset of new Set([0, Math.floor(total / 2), Math.max(total - 10, 0)]))
      await readPage(explaining, { ...shared, sort, offset }, new Findings());
  }
  expect(scans).toEqual([]);
});

it('cuts what a sort of all nodes would give', async () => {
  const sorts = fc.array(fc.tuple(fc.constantFrom(...columns), fc.boolean()), { maxLength: 4 });
  const asked = fc.tuple(
    sorts,
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.integer({ min: 1, max: 100 }),
    fc.constantFrom(...filters),
  );
  await fc.assert(
    fc.asyncProperty(asked, async ([given, part, limit, [, filter]]) => {
      const keys = new Map(
        given.map(([column, down]) => [column, down ? descending(column) : ascending(column)]),
      );
      const whole = { ...filter, sort: [...keys.values()], offset: 0, limit: nodes };
      const { kinds, total } = await passing(whole);
      const offset = Math.floor(part * total);
      // Where everything is few enough to be sorted, there is one sort; where nothing is, there are cuts only.
      const all = await cutPage(read, whole, kinds, total, nodes);
      const page = { ...whole, offset, limit };
      const expected = all.slice(offset, offset + limit);
      expect(await cutPage(read, page, kinds, total, 0)).toEqual(expected);
      expect(await cutPage(read, page, kinds, total)).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

it('sorts the nodes of a group apart where a page lies deep in it', async () => {
  const whole = { sort: [ascending('category'), descending('name')], offset: 0, limit: nodes };
  const { kinds, total } = await passing(whole);
  // A third of the nodes has no category: the first group.
  const offset = 600;
  let apart = 0;
  const noting: Read = (query) => {
    if (query.text.includes('AS MATERIALIZED')) apart += 1;
    return read(query);
  };
  const all = await cutPage(read, whole, kinds, total, nodes);
  expect(await cutPage(noting, { ...whole, offset, limit: 10 }, kinds, total)).toEqual(
    all.slice(offset, offset + 10),
  );
  expect(apart).toBe(1);
});

it('counts the nodes between two times once, until some are written', async () => {
  const findings = new Findings();
  const changedAfter = new Date('2022-02-01');
  const asked: string[] = [];
  const noting: Read = (query) => {
    asked.push(query.text);
    return read(query);
  };
  const counts = () => asked.filter((text) => text.includes('AS total')).length;
  const totalNow = async (offset: number) =>
    (await readPage(noting, { changedAfter, sort: [], offset, limit: 10 }, findings)).total;
  const total = await totalNow(0);
  expect(await totalNow(10)).toBe(total);
  expect([counts(), asked.filter((text) => text === listedKinds.text).length]).toEqual([1, 1]);

  const anothers = { changedAfter, withoutBanned: true, sort: [], offset: 0, limit: 10 };
  expect((await readPage(noting, anothers, findings)).total).toBeLessThan(total);
  expect(counts()).toBe(2);

  const [found] = await dataSource.query<{ id: string }[]>(
    `SELECT id FROM node WHERE kind IS NOT NULL AND updated_at > '2022-02-01' LIMIT 1`,
  );
  const writings: [statement: string, total: number][] = [
    [`UPDATE node SET updated_at = '2022-01-01' WHERE id = $1`, total - 1],
    [`UPDATE node SET updated_at = now() WHERE id = $1`, total],
    [`DELETE FROM node WHERE id = $1`, total - 1],
    [
      `INSERT INTO node (id, name, description, status, created_at, updated_at, publisher_banned)
        VALUES ($1, '', '', 'NodeStatusActive', now(), now(), false)`,
      total,
    ],
  ];
  for (const [statement, then] of writings) {
    await dataSource.query(statement, [found?.id]);
    expect(await totalNow(0)).toBe(then);
  }
  expect(counts()).toBe(2 + writings.length);
});

failOnLeftovers();
