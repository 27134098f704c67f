import { beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { createDatabase } from '../harness/index.js';
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
