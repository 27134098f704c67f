import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import path from 'node:path';
import { commandGroups } from '../../apps/admin/src/command-groups.js';
import { runProgram } from '../../apps/admin/src/program.js';
import {
  createDatabase,
  failOnLeftovers,
  longTimeouts,
  temporaryFolder,
  type TestDatabase,
} from '../harness/index.js';
import { sql } from './carried-rows.js';
import { insertRecords } from './many-records.js';
import { runBuilt } from './run-built-admin.js';

/** The program itself needs about 40 MB, and the records together far more than the rest. */
const heapMb = 64;
const records = 60_000;

describe('admin export and import of many records', () => {
  let source: TestDatabase;
  let target: TestDatabase;

  beforeAll(async () => {
    source = await createDatabase();
    target = await createDatabase();
    await insertRecords(source.url, 'busy', records);
  });
  afterAll(async () => {
    await source.drop();
    await target.drop();
  });

  it('hold a part of them at a time, whatever there is of them', async () => {
    const file = path.join(temporaryFolder('export'), 'database.jsonl');
    const nodeArguments = [`--max-old-space-size=${heapMb}`];
    const run = (url: string, command: string) =>
      runBuilt(
        { DATABASE_URL: url, DATABASE_POOL: '1' },
        { nodeArguments, words: [command, '--file', file] },
      );
    expect(await run(source.url, 'export')).toMatchObject({ code: 0, error: '' });
    expect(await run(target.url, 'import')).toMatchObject({ code: 0, error: '' });
    expect(await sql(target.url, 'SELECT count(*)::integer AS records FROM audit_record')).toEqual([
      { records },
    ]);
  });

  it('print a page at a time, and read on when the reader has room', async () => {
    let writing = false;
    const pages: number[] = [];
    const out = async (text: string) => {
      expect(writing).toBe(false);
      writing = true;
      pages.push(text.split('\n').length - 1);
      await new Promise((resolve) => setImmediate(resolve));
      writing = false;
    };
    const env = { ...longTimeouts, DATABASE_URL: source.url };
    expect(await runProgram(commandGroups, ['export'], env, { out, error: () => {} })).toBe(0);
    expect(Math.max(...pages)).toBe(1000);
    // The heading, a workspace, its opening credits, the record of its making, the books, and the digest.
    expect(pages.reduce((sum, lines) => sum + lines, 0)).toBe(records + 6);
  });
});

failOnLeftovers();
