import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { createDatabase, failOnLeftovers, sha256, type TestDatabase, waitFor } from '../harness/index.js';
import {
  carriedRows,
  exportedTo,
  importFile,
  importFrom,
  insertCarried,
  linesOf,
  sql,
} from './carried-rows.js';
import { runAdmin } from './run-admin.js';

/** The whole text of an export, with a last line that matches the others. */
const closed = (lines: readonly string[]): string => {
  const text = lines.map((line) => `${line}\n`).join('');
  return `${text}${JSON.stringify({ sha256: sha256(text) })}\n`;
};

describe('admin import of a file that it must reject', () => {
  let source: TestDatabase;
  let target: TestDatabase;
  let lines: string[];
  let empty: Record<string, string[]>;

  beforeAll(async () => {
    source = await createDatabase();
    target = await createDatabase();
    await insertCarried(source.url);
    lines = await linesOf((await exportedTo(source.url)).file);
    empty = await carriedRows(target.url);
  });
  afterAll(async () => {
    await source.drop();
    await target.drop();
  });

  /** The error of an import that must fail and leave nothing behind. */
  const refusal = async (text: string): Promise<string> => {
    const { code, error } = await importFrom(target.url, Readable.from([text]));
    expect(code).toBe(1);
    expect(await carriedRows(target.url)).toEqual(empty);
    return error;
  };

  it.each([
    ['nothing', 0, /is not an export that this version can read/],
    ['its heading only', 1, /truncated: it ends after line 1\./],
    ['all but the books and the digest', -2, /truncated: it ends after line \d+\./],
    ['all but the digest', -1, /truncated: it ends after line \d+\./],
  ])('rejects a file that contains %s', async (_what, end, expected) => {
    const text = lines.slice(0, end).map((line) => `${line}\n`);
    expect(await refusal(text.join(''))).toMatch(expected);
  });

  it('rejects a file that ends within a line', async () => {
    const text = lines.join('\n');
    expect(await refusal(text.slice(0, text.indexOf('\n', text.length / 2) - 1))).toMatch(
      /truncated or altered: line \d+ is not a line/,
    );
  });

  it('rejects an altered value', async () => {
    const text = lines.join('\n').replace('opening credits', 'opening Credits');
    expect(await refusal(text)).toMatch(/altered: its digest does not match its lines/);
  });

  it('refuses what follows the last line', async () => {
    expect(await refusal([...lines, '{}'].join('\n'))).toMatch(/altered: it continues after its last line/);
  });

  it('rejects a value that Postgres rejects, and names the table', async () => {
    const text = lines.join('\n').replace('"amount_micros":"-1"', '"amount_micros":"-1x"');
    expect(await refusal(text)).toMatch(
      /Rows of ledger_entry were rejected: invalid input syntax for type bigint/,
    );
  });

  it.each([
    [
      'a sum',
      /("ledger_entry.amount_micros":\{"all":")\d+/,
      /the sum of ledger_entry.amount_micros is 9007199254740998 instead of 7/,
    ],
    [
      'a workspace’s sum',
      /(000d":")5/,
      /the sum of ledger_entry.amount_micros of workspace \S+000d is 5 instead of 7/,
    ],
    ['a number of rows', /("audit_record":)1/, /audit_record has 1 rows instead of 7/],
  ])('compares what was inserted with the books: %s', async (_what, place, expected) => {
    const [books = '', ...others] = lines.slice(0, -1).toReversed();
    expect(await refusal(closed([...others.toReversed(), books.replace(place, '$17')]))).toMatch(expected);
  });

  it('notices a missing row even if the digest matches', async () => {
    const fewer = lines.slice(0, -1).filter((line) => !line.includes('"table":"audit_record"'));
    expect(await refusal(closed(fewer))).toMatch(/audit_record has 0 rows instead of 1/);
  });

  it('leaves nothing behind if the connection breaks half-way', async () => {
    const { code, error } = await importFrom(target.url, brokenOff());
    expect([code, error]).toEqual([1, expect.stringMatching(/^error: /)]);
    expect(await carriedRows(target.url)).toEqual(empty);
    expect((await importFrom(target.url, Readable.from([lines.join('\n')]))).code).toBe(0);
    expect(await carriedRows(target.url)).toEqual(await carriedRows(source.url));
  });

  /** Ends the importing session once it has inserted half of the rows. */
  async function* brokenOff(): AsyncGenerator<string> {
    const half = lines.slice(0, -6).map((line) => `${line}\n`);
    yield half.join('');
    const ended = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'idle in transaction' AND query LIKE 'INSERT%'`;
    await waitFor(async () => (await sql(target.url, ended)).length > 0, {
      withinMs: 60_000,
      what: 'the import to wait for the second half',
    });
    yield lines.slice(-6).join('\n');
  }

  it('rejects a database with workspaces, and one with only nodes', async () => {
    const [first, second] = [await createDatabase(), await createDatabase()];
    const { file } = await exportedTo(source.url);
    await sql(first.url, `INSERT INTO workspace (id, name) VALUES (gen_random_uuid(), 'demo')`);
    await sql(
      second.url,
      `INSERT INTO node (id, created_at, updated_at, publisher_banned, name, description, status)
       VALUES ('n', now(), now(), false, 'N', '', 'NodeStatusActive')`,
    );
    for (const [database, rows] of [
      [first, 'workspace 1'],
      [second, 'node 1'],
    ] as const) {
      expect(await importFile(database.url, file)).toEqual({
        code: 1,
        error: expect.stringContaining(`The database is not empty (rows: ${rows}).`),
      });
      await database.drop();
    }
  });

  it('rejects a database that was never migrated, and a file that does not exist', async () => {
    const other = await createDatabase();
    await sql(other.url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    expect((await importFrom(other.url, Readable.from([]))).error).toMatch(/Run the "migrate" command first/);
    const env = { DATABASE_URL: other.url };
    expect((await runAdmin(env, 'export')).error).toMatch(/has no table "workspace"/);
    await other.drop();
    const words = ['import', '--file', '/nowhere/database.jsonl'];
    expect((await runAdmin({ DATABASE_URL: target.url }, ...words)).error).toMatch(
      /^error: [^\n]*ENOENT: [^\n]+\n$/,
    );
  });

  it('does not export into an existing file, or as a JSON document', async () => {
    const { file } = await exportedTo(source.url);
    const env = { DATABASE_URL: source.url };
    expect((await runAdmin(env, 'export', '--file', file)).error).toMatch(/EEXIST/);
    expect(await linesOf(file)).toHaveLength(lines.length);
    expect(await runAdmin(env, 'export', '--json')).toEqual({
      code: 2,
      out: '',
      error: 'error: an export is not a single JSON document; use --file\n',
    });
  });
});

failOnLeftovers();
