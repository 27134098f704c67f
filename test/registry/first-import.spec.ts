import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { migrate, RegistryWriting } from '#persistence';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { importNodes } from '../../apps/admin/src/registry/import-nodes.js';
import { temporaryFolder } from '../harness/index.js';
import { gatewayForFile } from '../routes/gateway-for-file.js';
import { recordsOf, RegistryReader } from './registry-side.js';

const gateway = gatewayForFile();
const reader = new RegistryReader(() => gateway().url);
const folder = temporaryFolder('nodes');
const primaryKeys = ['node_pkey', 'node_version_pkey'];
let dataSource: DataSource;
let writing: RegistryWriting;
let all: string[];
beforeAll(async () => {
  dataSource = await gateway().database.openDataSource();
  writing = new RegistryWriting(dataSource);
  all = await indexes();
});
afterAll(() => dataSource.destroy());

async function indexes(): Promise<string[]> {
  const rows = await dataSource.query<{ indexname: string }[]>(
    `SELECT indexname FROM pg_indexes WHERE tablename IN ('node', 'node_version') ORDER BY indexname`,
  );
  return rows.map(({ indexname }) => indexname);
}

const imported = (...files: string[]) => importNodes(files, writing, { dryRun: false, progress: () => {} });

it('leaves the indexes where somebody does not let go of the tables', async () => {
  const client = new Client(gateway().databaseUrl);
  await client.connect();
  try {
    await client.query('BEGIN; SELECT FROM node');
    await writing.begin();
  } finally {
    await client.end();
  }
  expect(all).toEqual(expect.arrayContaining(['node_by_name', 'node_version_newest']));
  expect(await indexes()).toEqual(all);
});

it('has its pages and its indexes after a death in the middle', async () => {
  await writing.begin();
  expect(await indexes()).toEqual(primaryKeys);
  await writing.put(
    recordsOf([
      { id: 'first', name: 'B' },
      { id: 'second', name: 'A' },
    ]),
  );
  expect(await reader.ids('latest=true&sort=name')).toEqual(['second', 'first']);
  await migrate(gateway().database);
  expect(await indexes()).toEqual(all);
});

it('drops none of a registry that has nodes', async () => {
  await writing.begin();
  expect(await indexes()).toEqual(all);
});

it('builds them when it comes to its end, and when it fails', async () => {
  const file = path.join(folder, 'nodes.jsonl');
  writeFileSync(file, `{"id": "third"}\n`);
  await dataSource.query('TRUNCATE node CASCADE');
  await imported(file);
  expect(await indexes()).toEqual(all);
  await dataSource.query('TRUNCATE node CASCADE');
  await expect(imported(file, folder)).rejects.toThrow('EISDIR');
  expect(await indexes()).toEqual(all);
});
