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
import { spaceId, sql } from './carried-rows.js';
import { runBuilt } from './run-built-admin.js';

/** The program needs about 40 MB and a few pages of rows; the text of all rows alone is this large. */
const heapMb = 80;
const rows = 16_000;
const rowBytes = 5_000;

describe('admin export and import of a large table', () => {
  let source: TestDatabase;
  let target: TestDatabase;

  beforeAll(async () => {
    source = await createDatabase();
    target = await createDatabase();
    await sql(
      source.url,
      `INSERT INTO ledger_entry (workspace_id, amount_micros, note)
       SELECT '${spaceId}', n, repeat('x', ${rowBytes}) FROM generate_series(1, ${rows}) AS n`,
    );
  });
  afterAll(async () => {
    await source.drop();
    await target.drop();
  });

  it('hold only a part of it at a time', async () => {
    const file = path.join(temporaryFolder('export'), 'database.jsonl');
    const nodeArguments = [`--max-old-space-size=${heapMb}`];
    const run = (url: string, command: string) =>
      runBuilt({ DATABASE_URL: url }, { nodeArguments, words: [command, '--file', file] });
    expect(await run(source.url, 'export')).toMatchObject({ code: 0, error: '' });
    expect(await run(target.url, 'import')).toMatchObject({ code: 0, error: '' });
    expect(await sql(target.url, 'SELECT count(*)::integer AS rows FROM ledger_entry')).toEqual([{ rows }]);
  });

  it('print a page at a time, and continue when the reader has room', async () => {
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
    // The heading comes before the pages, the books and the digest after them.
    expect(pages).toEqual([1, ...Array.from({ length: rows / 1000 }, () => 1000), 1, 1]);
  });
});

failOnLeftovers();
