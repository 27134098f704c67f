import { describe, expect, it } from '@jest/globals';
import { readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { commandGroups } from '../../apps/admin/src/command-groups.js';
import { appMain } from '../../apps/local/src/checkout.js';
import { ownDatabase } from './own-database.js';
import { runBuilt, runBuiltAdmin } from './run-built-admin.js';

const { env } = await ownDatabase();

const bundle = path.dirname(appMain('admin'));

/** The files that the program reads before a command acts, and the names of what else they import. */
function loadedFor(command: string | undefined): { files: string[]; packages: string[] } {
  const main = path.join(bundle, 'main.js');
  const text = readFileSync(main, 'utf8');
  const [, chunk] = new RegExp(`name: "${command}".*?import\\("\\./([\\w.-]+)"\\)`, 's').exec(text) ?? [];
  const files = new Set(command === undefined ? [main] : [main, path.join(bundle, chunk ?? 'missing')]);
  const packages = new Set<string>();
  for (const file of files) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/^import (?:.* from )?"([^"]+)";$/gm)) {
      if (name.startsWith('.')) files.add(path.join(bundle, name));
      else packages.add(name);
    }
  }
  return { files: [...files], packages: [...packages] };
}

async function succeeds(...words: string[]) {
  expect(await runBuiltAdmin(env, ...words)).toMatchObject({ code: 0, error: '' });
}

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

  it.each([
    ['--version', undefined, 200],
    ['run show', 'run', 2_000],
  ])('reads only what it needs for %s', (_words, command, maxKilobytes) => {
    const { files, packages } = loadedFor(command);
    expect(packages.filter((name) => !isBuiltin(name))).toEqual([]);
    expect(files.reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThan(maxKilobytes * 1000);
  });

  it('answers from the database, also with what needs TypeORM, the catalog and files', async () => {
    await succeeds('migrate');
    await succeeds('workspace', 'create', 'bundled', '--visible', 'bfl/*');
    await succeeds('key', 'create', '--workspace', 'bundled');
    await succeeds('run', 'list', '--stuck');
    await succeeds('registry', 'import', '/dev/null');
    await succeeds('catalog', 'prices');
    await succeeds('encryption-key', 'create');
  });

  it.each(commandGroups.map(({ name }) => name))('describes %s', async (name) => {
    const { code, out } = await runBuiltAdmin({}, 'help', name);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: admin ${name} `);
  });

  it('exits with 1 and one line on standard error if a server does not answer', async () => {
    expect(await runBuiltAdmin({ DATABASE_URL: 'postgres://app@127.0.0.1:1/none' }, 'migrate')).toEqual({
      code: 1,
      out: '',
      error: 'error: connect ECONNREFUSED 127.0.0.1:1\n',
    });
  });
});
