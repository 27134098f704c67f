import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ownDatabase } from './own-database.js';
import { runBuilt, runBuiltAdmin } from './run-built-admin.js';

const { env } = await ownDatabase();

describe('the admin program as a process', () => {
  it('reads its settings from the environment, prints only one document, and exits with 0', async () => {
    const { code, out, error } = await runBuiltAdmin(env, 'workspace', 'create', 'acme', '--json');
    expect({ code, error }).toEqual({ code: 0, error: '' });
    expect(JSON.parse(out)).toMatchObject({ name: 'acme' });
  });

  it('exits with 2 and one line on standard error for bad usage', async () => {
    expect(await runBuiltAdmin(env, 'workspace', 'set')).toEqual({
      code: 2,
      out: '',
      error: expect.stringMatching(/^error: [^\n]+\n$/),
    });
  });

  it('reads the file of --env-file itself, although Node has an option of that name', async () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { admin: string } };
    const nodeArguments = /exec node (.+) dist\//.exec(scripts.admin)?.[1]?.split(' ') ?? [];
    const words = ['--env-file', 'nowhere.env', 'workspace', 'list'];
    expect(await runBuilt({}, { nodeArguments, words })).toEqual({
      code: 1,
      out: '',
      error: expect.stringMatching(/^error: nowhere\.env cannot be read: [^\n]+\n$/),
    });
  });

  it('exits with 1 and one line on standard error if a server does not answer', async () => {
    expect(await runBuiltAdmin({ DATABASE_URL: 'postgres://app@127.0.0.1:1/none' }, 'migrate')).toEqual({
      code: 1,
      out: '',
      error: 'error: connect ECONNREFUSED 127.0.0.1:1\n',
    });
  });
});
