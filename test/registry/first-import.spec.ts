import { beforeAll, expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { migrate, RegistryWriting } from '#persistence';
import { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { importNodes } from '../../apps/admin/src/registry/import-nodes.js';
import { failOnLeftovers, temporaryFolder } from '../harness/index.js';
import { recordsOf, registryForFile } from './registry-side.js';

const registry = registryForFile();
const folder = temporaryFolder('nodes');
const primaryKeys = ['node_pkey', 'node_version_pkey'];
let dataSource: DataSource;
let writing: RegistryWriting;
let all: string[];
beforeAll(async () => {
  ({ dataSource } = registry());
  writing = new RegistryWriting(dataSource);
  all = await parts();
});

/** The names of indexes and references. */
async function parts(): Promise<string[]> {
  const rows = await dataSource.query<{ name: string }[]>(
    `SELECT indexname AS name FROM pg_indexes WHERE tablename IN ('node', 'node_version')
      UNION SELECT conname FROM pg_constraint WHERE contype = 'f' AND conrelid IN ('node'::regclass, 'node_version'::regclass)
      ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}

const imported = (...files: string[]) => importNodes(files, writing, { dryRun: false, progress: () => {} });

it('leaves them all where somebody does not let go of the tables', async () => {
  const client = new Client(registry().databaseUrl);
  await client.connect();
  try {
    await client.query('BEGIN; SELECT FROM node');
    await writing.begin();
  } finally {
    // The server may notice the end of a connection late, and holds its locks until then.
    await client.query('ROLLBACK');
    await client.end();
  }
  expect(all).toEqual(expect.arrayContaining(['node_by_name', 'node_version_newest', 'node_has_publisher']));
  expect(await parts()).toEqual(all);
});

it('has its pages, and gets the rest after a death in the middle', async () => {
  await writing.begin();
  expect(await parts()).toEqual(primaryKeys);
  const records = recordsOf([
    { id: 'first', name: 'B' },
    { id: 'second', name: 'A' },
  ]);
  await writing.prepare(records)();
  expect(await registry().reader.ids('latest=true&sort=name')).toEqual(['second', 'first']);
  await migrate(registry().dataSource);
  expect(await parts()).toEqual(all);
});

it('drops none of a registry that has nodes', async () => {
  await writing.begin();
  expect(await parts()).toEqual(all);
});

it('makes them when it comes to its end, and when it fails', async () => {
  const file = path.join(folder, 'nodes.jsonl');
  writeFileSync(file, `{"id": "third"}\n`);
  await dataSource.query('TRUNCATE node CASCADE');
  await imported(file);
  expect(await parts()).toEqual(all);
  await dataSource.query('TRUNCATE node CASCADE');
  await expect(imported(file, folder)).rejects.toThrow('EISDIR');
  expect(await parts()).toEqual(all);
});

failOnLeftovers();
