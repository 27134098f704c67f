import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { appMain } from '../../apps/local/src/checkout.js';
import { carriedRows, exportedTo, importFile, insertCarried, sql } from '../admin/carried-rows.js';
import {
  createDatabase,
  failOnLeftovers,
  longTimeouts,
  type TestDatabase,
  trackChild,
  waitFor,
} from '../harness/index.js';

let source: TestDatabase;
let target: TestDatabase;

beforeAll(async () => {
  source = await createDatabase();
  target = await createDatabase();
  await insertCarried(source.url);
});
afterAll(async () => {
  await source.drop();
  await target.drop();
});

const sessions = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND state = 'idle in transaction' AND query LIKE 'INSERT%'`;

it('an import that is killed half-way leaves nothing behind, and can be repeated', async () => {
  const { file } = await exportedTo(source.url);
  const text = await readFile(file, 'utf8');
  const child = spawn(process.execPath, [appMain('admin'), 'import'], {
    env: { PATH: process.env['PATH'], ...longTimeouts, DATABASE_URL: target.url },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  trackChild(child, 'admin import');
  child.stdin.write(text.slice(0, text.lastIndexOf('{"table":"node"')));
  const inserting = async () => (await sql(target.url, sessions)).length > 0;
  await waitFor(inserting, { withinMs: 60_000, what: 'the import to insert rows' });
  child.kill('SIGKILL');
  await once(child, 'exit');
  const ended = async () => (await sql(target.url, sessions)).length === 0;
  await waitFor(ended, { withinMs: 60_000, what: 'the session of the import to end' });
  expect(Object.values(await carriedRows(target.url)).flat()).toEqual([]);
  expect(await importFile(target.url, file)).toEqual({ code: 0, error: '' });
  expect(await carriedRows(target.url)).toEqual(await carriedRows(source.url));
});

failOnLeftovers();
