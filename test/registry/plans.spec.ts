import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { sortColumns, type SortKey } from '#persistence';
import { countQuery, type PageAsk, pageQuery } from '../../libs/persistence/src/registry/page-query.js';
import { gatewayForFile } from '../routes/gateway-for-file.js';
import { fillRegistry } from './many-nodes.js';

// Enough that the planner weighs a scan against an index; the benchmark asks the same of 100,000.
const nodes = 25_000;

const gateway = gatewayForFile();
let dataSource: DataSource;
let marks: Record<'os' | 'accelerator' | 'app', Record<string, string>>;
beforeAll(async () => {
  dataSource = await gateway().database.openDataSource();
  await fillRegistry(dataSource, nodes, 2 * nodes);
  const rows = await dataSource.query<{ kind: keyof typeof marks; mark: string; name: string }[]>(
    `SELECT kind, mark, array_to_string(demands, ',') AS name FROM node_demand`,
  );
  marks = { os: {}, accelerator: {}, app: {} };
  for (const { kind, mark, name } of rows) marks[kind][name] = mark;
}, 120_000);
afterAll(() => dataSource.destroy());

const of = (kind: keyof typeof marks, ...names: string[]) => names.map((name) => marks[kind][name] ?? '0');

const filters: [name: string, filter: () => Omit<PageAsk, 'sort' | 'limit' | 'offset'>][] = [
  ['no filter', () => ({ met: {} })],
  ['a system', () => ({ met: { os: of('os', '', 'POSIX', 'OS Independent') } })],
  ['an accelerator', () => ({ met: { accelerator: of('accelerator', '', 'CUDA', 'CUDA,ROCm') } })],
  ['a rare demand', () => ({ met: { app: of('app', '>=6.0') } })],
  ['a demand nobody has', () => ({ met: { app: [] } })],
  ['a host version', () => ({ met: { app: of('app', '', '>=0.0', '>=1.0', '>=2.0') } })],
  ['no banned ones', () => ({ met: {}, withoutBanned: true })],
  ['recent changes', () => ({ met: {}, changedAfter: new Date('2022-10-01') })],
  ['changes since long', () => ({ met: {}, changedAfter: new Date('2022-01-03') })],
  ['ids', () => ({ met: {}, ids: ['node-1', 'node-2'] })],
  [
    'all of them',
    () => ({
      met: {
        os: of('os', '', 'MacOS'),
        accelerator: of('accelerator', '', 'CUDA'),
        app: of('app', '', '>=1.0'),
      },
      changedAfter: new Date('2022-02-01'),
      withoutBanned: true,
    }),
  ],
];

const orders = Object.keys(sortColumns).flatMap((column) =>
  [false, true].map((descending): SortKey => ({ column: column as SortKey['column'], descending })),
);

it.each(filters)('cuts pages out of indexes with %s', async (_name, filter) => {
  const scans: string[] = [];
  const shared = { ...filter(), sort: [], limit: 10, offset: 0 };
  const { text, values } = countQuery(shared);
  const [counted] = await dataSource.query<{ total: number }[]>(text, values);
  const total = counted?.total ?? 0;
  for (const key of orders) {
    for (const offset of new Set([0, Math.floor(total / 2), Math.max(total - 10, 0)])) {
      const page = pageQuery({ ...shared, sort: [key], offset }, total);
      const plan = await dataSource.query<Record<string, string>[]>(
        `EXPLAIN (COSTS OFF) ${page.text}`,
        page.values,
      );
      const lines = plan.map((line) => line['QUERY PLAN'] ?? '').filter((line) => line.includes('Seq Scan'));
      if (lines.length > 0) scans.push(`${key.column} ${key.descending} ${offset}: ${lines.join(';')}`);
    }
  }
  expect(scans).toEqual([]);
});
