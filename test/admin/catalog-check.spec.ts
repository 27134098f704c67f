import { beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { checkout } from '../../apps/local/src/checkout.js';
import { temporaryFolder } from '../harness/index.js';
import { answerOf, runAdmin } from './run-admin.js';

const env = {};
const providers = path.join(checkout, 'libs/providers/src/providers');

const row = (id: string) =>
  `id: ${id}\nupstream: { path: model }\ncharges_on_policy_rejection: unknown\nprice: { usd: 0.01 }\n`;

describe('admin catalog check', () => {
  let builtIn: number;

  beforeAll(() => {
    builtIn = readdirSync(providers, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /models.[^/\\]+\.ya?ml$/.test(file),
    ).length;
  });

  it('counts the models of the built-in catalog, without a database', async () => {
    expect(await answerOf(env, 'catalog', 'check')).toEqual({
      models: builtIn,
      revision: expect.stringMatching(/^[0-9a-f]{64}$/),
      problems: [],
    });
  });

  it('counts, for people, what a directory leaves of it', async () => {
    const directory = temporaryFolder('catalog');
    writeFileSync(path.join(directory, 'hide.yaml'), 'id: bfl/flux-pro-1.1\nhidden: true\n');
    expect((await runAdmin(env, 'catalog', 'check', directory)).out).toMatch(
      new RegExp(`^${builtIn - 1} models, no problems\\. Revision [0-9a-f]{12}\\.\n$`),
    );
  });

  it('prints every problem with file, pointer and reason, and ends with 1', async () => {
    const directory = temporaryFolder('catalog');
    const broken = path.join(directory, 'broken.yaml');
    const stranger = path.join(directory, 'stranger.yaml');
    writeFileSync(broken, 'id: [\n');
    writeFileSync(stranger, row('nobody/model'));
    const { code, out } = await runAdmin(env, 'catalog', 'check', directory, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      problems: [
        { file: broken, pointer: '', reason: expect.stringMatching(/./) },
        { file: stranger, pointer: '/id', reason: 'no provider is named nobody' },
      ],
    });
  });

  it('prints problems for people as one line each', async () => {
    const directory = temporaryFolder('catalog');
    const file = path.join(directory, 'dear.yaml');
    writeFileSync(file, row('bfl/dear').replace('{ usd: 0.01 }', '{ usd: much }'));
    const { code, out } = await runAdmin(env, 'catalog', 'check', directory);
    expect(code).toBe(1);
    expect(out).toMatch(/^[^\n]+#\/price[^\n]*: [^\n]+\n$/);
    expect(out.startsWith(file)).toBe(true);
  });

  it('ends with 1 for a directory that is not there', async () => {
    const { code, out } = await runAdmin(env, 'catalog', 'check', '/no/such/directory');
    expect(code).toBe(1);
    expect(out).toMatch(/^\/no\/such\/directory: .*ENOENT/);
  });
});
