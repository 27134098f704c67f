import { beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { commandGroups } from '../../apps/admin/src/command-groups.js';
import { runProgram } from '../../apps/admin/src/program.js';
import { readMigrations } from '../../libs/persistence/src/migrations.js';
import { makeFirstRelease } from '../../libs/persistence/src/testing/first-release.js';
import { createDatabase, longTimeouts, waitFor } from '../harness/index.js';
import { ownDatabase } from './own-database.js';
import { answerOf, runAdmin } from './run-admin.js';

const { env } = await ownDatabase();

describe('admin migrate', () => {
  beforeAll(async () => {
    await tell(env.DATABASE_URL, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  });

  it('must run before any other command', async () => {
    const { code, out, error } = await runAdmin(env, 'workspace', 'list');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(error).toBe('error: The database schema is not up to date. Run the "migrate" command first.\n');
    // A look at the schema makes nothing: that would be in the way of a migration, or may not be allowed.
    expect(
      await tell(
        env.DATABASE_URL,
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace",
      ),
    ).toEqual([]);
  });

  it('shows with --plan what is missing, and changes nothing', async () => {
    const plan = await answerOf<{ migrations: { name: string; tables: object[] }[]; functions: boolean }>(
      env,
      'migrate',
      '--plan',
    );
    expect(plan.functions).toBe(true);
    expect(plan.migrations.map(({ name }) => name)).toEqual(
      readMigrations().map((Migration) => new Migration().name),
    );
    expect(plan.migrations[0]?.tables).toContainEqual({ name: 'workspace', rows: 0 });
    expect((await runAdmin(env, 'migrate', '--plan')).out).toMatch(
      /ListIndexes\d+ +without .*audit_record \(0\)/,
    );
    expect((await runAdmin(env, 'workspace', 'list')).code).toBe(1);
  });

  it.each([
    ['keeps a table', 'BEGIN; LOCK workspace IN ACCESS SHARE MODE'],
    ['is older than an index that is built', 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT txid_current()'],
  ])('says which transaction it waits for, if one %s', async (_what, statements) => {
    const own = await createDatabase();
    await tell(own.url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await makeFirstRelease(own.url);
    await tell(
      own.url,
      `INSERT INTO workspace (id, name) SELECT gen_random_uuid(), n::text FROM generate_series(1, 50) AS n; ANALYZE`,
    );
    const holder = new Client({ connectionString: own.url });
    await holder.connect();
    await holder.query(statements);
    const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    let said = '';
    const error = (text: string) => void (said += text);
    const words = ['--env-file', '/dev/null', 'migrate'];
    const migrating = runProgram(
      commandGroups,
      words,
      { ...longTimeouts, DATABASE_URL: own.url },
      { out: () => {}, error },
    );
    await waitFor(async () => said.includes(`waits for the transactions of pid ${rows[0]?.pid}\n`), {
      what: 'the pid to be said',
      withinMs: 30_000,
    });
    await holder.end();
    expect(await migrating).toBe(0);
    expect(said).toMatch(/^\w+ begins: .*\n/);
    expect(said).toContain('workspace (about 50 rows)');
    const [begun, ended] = [/ begins: /g, / took [\d.]+ s\n/g].map((each) => said.match(each)?.length);
    expect(begun).toBe(readMigrations().length - 1);
    expect(ended).toBe(begun);
    await own.drop();
  });

  it('needs only one connection', async () => {
    const alone = await createDatabase();
    await tell(alone.url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const ran = await answerOf<{ migrations: string[] }>(
      { DATABASE_URL: alone.url, DATABASE_POOL: '1' },
      'migrate',
    );
    expect(ran.migrations.length).toBeGreaterThan(0);
    await alone.drop();
  });

  it('runs every migration once, however many commands run at once', async () => {
    const answers = await Promise.all(
      [1, 2, 3].map(() => answerOf<{ migrations: string[] }>(env, 'migrate')),
    );
    const ran = answers.flatMap(({ migrations }) => migrations);
    expect(ran.length).toBeGreaterThan(0);
    expect(new Set(ran).size).toBe(ran.length);
    expect((await runAdmin(env, 'workspace', 'list')).code).toBe(0);
  });

  it('says that there was nothing to do', async () => {
    expect(await runAdmin(env, 'migrate')).toEqual({
      code: 0,
      out: 'The schema is already up to date.\n',
      error: '',
    });
  });

  it.each([
    ['other statements than these', `UPDATE typeorm_metadata SET value = 'other' WHERE type = 'MIGRATION'`],
    ['unrecorded statements', `DELETE FROM typeorm_metadata WHERE type = 'MIGRATION'`],
    ['a program that records no statements', 'DROP TABLE typeorm_metadata'],
  ])('rejects a database that was made by %s, and so does every other command', async (_what, change) => {
    await tell(env.DATABASE_URL, change);
    for (const words of [['migrate'], ['workspace', 'list']]) {
      expect(await runAdmin(env, ...words)).toEqual({
        code: 1,
        out: '',
        error: expect.stringMatching(
          /^error: The database was made by another version: its InitialSchema\d+ had other statements\. [^\n]+\n$/,
        ),
      });
    }
  });

  it('names the missing setting', async () => {
    const { code, error } = await runAdmin({}, 'migrate');
    expect(code).toBe(1);
    expect(error).toMatch(/^error: invalid settings: DATABASE_URL: [^\n]+\n$/);
  });
});

async function tell(url: string, statements: string): Promise<object[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<object>(statements);
  await client.end();
  return rows;
}
