import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, failOnLeftovers, type TestDatabase } from '../harness/index.js';
import { runBuiltAdmin } from './run-built-admin.js';

describe('the admin program as a process', () => {
  let database: TestDatabase;
  let env: { DATABASE_URL: string };

  beforeAll(async () => {
    database = await createDatabase();
    env = { DATABASE_URL: database.url };
  });
  afterAll(() => database.drop());

  it('takes its settings from the environment, prints one document and nothing else, and ends with 0', async () => {
    const { code, out, error } = await runBuiltAdmin(env, 'workspace', 'create', 'acme', '--json');
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(JSON.parse(out)).toMatchObject({ name: 'acme' });
  });

  it.each([
    [1, ['workspace', 'set', 'nobody', '--disabled'], 'error: There is no workspace "nobody".\n'],
    [2, ['workspace', 'set'], expect.stringMatching(/^error: [^\n]+\n$/)],
  ])('ends with %i and one line on standard error for %j', async (code, words, error) => {
    expect(await runBuiltAdmin(env, ...words)).toEqual({ code, out: '', error });
  });

  it('says in one line that a server does not answer', async () => {
    expect(await runBuiltAdmin({ DATABASE_URL: 'postgres://app@127.0.0.1:1/none' }, 'migrate')).toEqual({
      code: 1,
      out: '',
      error: 'error: connect ECONNREFUSED 127.0.0.1:1\n',
    });
  });
});

failOnLeftovers();
