import { beforeAll, describe, expect, it } from '@jest/globals';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { commandGroups } from '../../apps/admin/src/command-groups.js';
import { runProgram } from '../../apps/admin/src/program.js';
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
    const rows = readdirSync(providers, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /models.[^/\\]+\.ya?ml$/.test(file),
    );
    // The row of an ended model contains nothing that needs checking.
    builtIn = rows.filter(
      (file) => !/^ended:/m.test(readFileSync(path.join(providers, file), 'utf8')),
    ).length;
  });

  it('counts the models of the built-in catalog without a database', async () => {
    expect(await answerOf(env, 'catalog', 'check')).toEqual({
      models: builtIn,
      revision: expect.stringMatching(/^[0-9a-f]{64}$/),
      problems: [],
      warnings: expect.any(Array),
    });
  });

  describe('of a directory with warnings', () => {
    const directory = temporaryFolder('catalog');
    const lost = path.join(directory, 'lost.yaml');
    const ending = path.join(directory, 'ending.yaml');
    const ends = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
    beforeAll(() => {
      writeFileSync(lost, `${row('bfl/new')}servers: [fal/nothing]\n`);
      writeFileSync(ending, `${row('bfl/ending')}ends: ${ends}\n`);
      writeFileSync(path.join(directory, 'hide.yaml'), 'id: bfl/flux-pro-1.1\nhidden: true\n');
    });

    it('includes them in its answer, and shows its progress on a terminal', async () => {
      const said = { out: '', status: '' };
      await runProgram(commandGroups, ['catalog', 'check', directory, '--json'], env, {
        out: (text) => void (said.out += text),
        error: () => {},
        status: (text) => void (said.status += text),
      });
      const { warnings } = JSON.parse(said.out) as { warnings: object[] };
      expect(warnings).toEqual(
        expect.arrayContaining([
          { file: lost, pointer: '/servers/0', reason: 'there is no model fal/nothing' },
          { file: ending, pointer: '/ends', reason: `the model ends on ${ends}` },
        ]),
      );
      expect(said.status).toContain(`\r${builtIn + 1} of ${builtIn + 1} models`);
      expect(said.status.endsWith('\r\u001B[K')).toBe(true);
    });

    it('prints them for people, with the number of models that remain, and exits with 0', async () => {
      const { code, out } = await runAdmin(env, 'catalog', 'check', directory);
      expect(code).toBe(0);
      expect(out).toMatch(
        new RegExp(`^${builtIn + 1} models, no problems\\. Revision [0-9a-f]{12}\\.\n(Warning: .*\n)+$`),
      );
      expect(out).toContain(`Warning: ${ending}#/ends: the model ends on ${ends}\n`);
    });
  });

  describe('of a directory with problems', () => {
    const directory = temporaryFolder('catalog');
    const broken = path.join(directory, 'broken.yaml');
    const old = path.join(directory, 'old.yaml');
    const stranger = path.join(directory, 'stranger.yaml');
    beforeAll(() => {
      writeFileSync(broken, 'id: [\n');
      writeFileSync(old, row('bfl/old').replace('usd: 0.01', 'usd: 0.01, times: [{ number: /n, most: 4 }]'));
      writeFileSync(stranger, row('nobody/model'));
    });

    it('prints every problem with file, pointer and reason, and exits with 1', async () => {
      const { code, out } = await runAdmin(env, 'catalog', 'check', directory, '--json');
      expect(code).toBe(1);
      expect(JSON.parse(out)).toEqual({
        problems: [
          { file: broken, pointer: '', reason: expect.stringMatching(/./) },
          {
            file: old,
            pointer: '/price/times/0/most',
            reason: expect.stringContaining('is now called "max"'),
          },
          { file: stranger, pointer: '/id', reason: 'there is no provider "nobody"' },
        ],
        warnings: expect.any(Array),
      });
    });

    it('prints one line for each problem for people', async () => {
      const { code, out } = await runAdmin(env, 'catalog', 'check', directory);
      expect(code).toBe(1);
      expect(out).toMatch(/^([^\n]+: [^\n]+\n){3}(Warning: .*\n)*$/);
      expect(out.startsWith(broken)).toBe(true);
    });
  });

  it('exits with 1 for a directory that does not exist', async () => {
    const { code, out } = await runAdmin(env, 'catalog', 'check', '/no/such/directory');
    expect(code).toBe(1);
    expect(out).toMatch(/^\/no\/such\/directory: .*ENOENT/);
  });
});

describe('admin catalog prices', () => {
  const directory = temporaryFolder('catalog');
  const price = `
  usd: 0.1
  times: [{ number: /duration, default: 5, max: 10 }]
  plus: [{ usd: 0.03 }]
  reported: [{ path: /cost, usd: 0.01 }]
  source: provider.example/pricing
  date: 2026-11-22`;
  beforeAll(() =>
    writeFileSync(path.join(directory, 'own.yaml'), row('bfl/own').replace('{ usd: 0.01 }', price)),
  );

  it('prints price, source, date, and what the example reserves and costs', async () => {
    const { models } = await answerOf<{ models: { model: string }[] }>(env, 'catalog', 'prices', directory);
    expect(models.length).toBeGreaterThan(100);
    expect(models.find(({ model }) => model === 'bfl/own')).toEqual({
      model: 'bfl/own',
      price: expect.objectContaining({ usd: 0.1, source: 'provider.example/pricing', date: '2026-11-22' }),
      example: { reserved_cents: 103, computed_cents: 53, basis: 'computed' },
    });
    const { out } = await runAdmin(env, 'catalog', 'prices', directory);
    expect(out.split('\n').find((line) => line.startsWith('bfl/own'))).toMatch(
      /^bfl\/own +\$0\.1 × duration \+ \$0\.03 +\$0\.01 × \/cost +103 +53 +2026-11-22 +provider\.example\/pricing$/,
    );
  });
});

describe('admin catalog prices of a model whose price changes', () => {
  const directory = temporaryFolder('catalog');
  beforeAll(() =>
    writeFileSync(
      path.join(directory, 'changing.yaml'),
      row('bfl/changing').replace('{ usd: 0.01 }', '[{ usd: 0.01 }, { from: 2100-01-01, usd: 0.02 }]'),
    ),
  );

  it.each([
    [[], 1, '2100-01-01'],
    [['--on', '2099-12-31'], 1, '2100-01-01'],
    [['--on', '2100-01-01'], 2, undefined],
  ])('with %j', async (words, cents, next) => {
    const all = ['catalog', 'prices', directory, ...words];
    const { models } = await answerOf<{ models: { model: string }[] }>(env, ...all);
    const found = models.find(({ model }) => model === 'bfl/changing');
    expect(found).toMatchObject({ example: { reserved_cents: cents, computed_cents: cents } });
    expect(Object(found).next?.from).toBe(next);
  });

  it('has a column for people', async () => {
    const { out } = await runAdmin(env, 'catalog', 'prices', directory);
    const line = out.split('\n').find((each) => each.startsWith('bfl/changing'));
    expect(line).toMatch(/^bfl\/changing +\$0\.01 +- +1 +1 +2100-01-01 +-/);
  });

  it('rejects another time than a day or a moment', async () => {
    const { code, error } = await runAdmin(env, 'catalog', 'prices', '--on', 'tomorrow');
    expect([code, error]).toEqual([2, expect.stringContaining('Expected a time such as')]);
  });
});

describe('admin catalog coverage', () => {
  const folder = temporaryFolder('coverage');
  const list = path.join(folder, 'ids.txt');
  beforeAll(() => {
    mkdirSync(path.join(folder, 'rows'));
    const more =
      'aliases: [other/name]\nprovider: bfl\ninput: { type: object, additionalProperties: false }\n';
    writeFileSync(path.join(folder, 'rows/own.yaml'), row('acme/closed') + more);
    const ids = [
      'bfl/flux-2-pro',
      '{"id":"other/name","more":1}',
      '# a remark',
      '',
      'veo/veo-2.0-generate-001',
      'no/such',
    ];
    writeFileSync(list, ids.join('\n'));
  });

  it('prints how the catalog covers each id of a list', async () => {
    const words = ['catalog', 'coverage', path.join(folder, 'rows'), '--list', list];
    const { counts, ids } = await answerOf<{ counts: object; ids: object[] }>(env, ...words);
    expect(ids).toEqual([
      {
        id: 'bfl/flux-2-pro',
        state: 'known',
        model: 'bfl/flux-2-pro',
        provider: 'bfl',
        input: 'open',
        priced: true,
        simulated: true,
      },
      {
        id: 'other/name',
        state: 'alias',
        model: 'acme/closed',
        provider: 'bfl',
        input: 'closed',
        priced: false,
        simulated: true,
      },
      {
        id: 'veo/veo-2.0-generate-001',
        state: 'ended',
        model: 'veo/veo-2.0-generate-001',
        ended: '2026-06-30',
        source: expect.stringMatching(/; 2026-\d\d-\d\d$/),
        successor: 'veo/veo-3.1-generate-001',
      },
      { id: 'no/such', state: 'missing' },
    ]);
    expect(counts).toEqual({
      known: 1,
      alias: 1,
      ended: 1,
      missing: 1,
      open: 1,
      closed: 1,
      priced: 1,
      simulated: 2,
    });
    const { out } = await runAdmin(env, ...words);
    expect(out).toMatch(/^other\/name +alias +acme\/closed +bfl +closed +no +yes$/m);
    expect(out).toMatch(
      /^veo\/veo-2\.0-generate-001 ended on 2026-06-30, now veo\/veo-3\.1-generate-001: .+$/m,
    );
    expect(out).toContain('2 known, 2 of them simulated; 1 ended, see above; 1 missing.');
  });
});
