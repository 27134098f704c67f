import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { providerList } from '#providers';
import { BadCatalog, layered, loadCatalog } from './load-catalog.js';
import { readDirectory } from './read-rows.js';

const made: string[] = [];

async function directoryOf(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'catalog-'));
  made.push(directory);
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return directory;
}

afterEach(async () => {
  for (const directory of made.splice(0)) await rm(directory, { recursive: true });
});

const row = (id: string, more = '') =>
  `id: ${id}\nupstream: { path: x }\ncharges_on_policy_rejection: no\nprice: { usd: 0.01 }\n${more}`;

/** The providers of the rows below, which are not in any release. */
const builtIn = providerList.slice(0, 2).map((some, index) => ({ ...some, name: ['a', 'b'][index] ?? '' }));
const load = (...directories: string[]) => loadCatalog({ directories, builtIn });

describe('aliases', () => {
  it('are unique across all directories', async () => {
    const taken = await directoryOf({
      '1.yaml': row('a/one', 'aliases: [b/x, a/two]\n'),
      '2.yaml': row('a/two', 'aliases: [b/x]\n'),
      '3.yaml': 'id: a/three\nended: 2026-01-01\naliases: [b-ai/x/y, a/one]\n',
    });
    await expect(load(taken)).rejects.toThrow(
      /1\.yaml#\/aliases\/1: a\/two is already a name of a\/two\n.*2\.yaml#\/aliases\/0: b\/x is already a name of a\/one\n.*3\.yaml#\/aliases\/1: a\/one is already a name of a\/one$/,
    );
  });

  it('are removed with a row that a later directory replaces', async () => {
    const release = await directoryOf({ 'm.yaml': row('a/one', 'aliases: [b/x]\n') });
    const own = await directoryOf({ 'm.yaml': row('a/one'), 'n.yaml': row('a/two', 'aliases: [b/x]\n') });
    expect((await load(release, own)).find('b/x')?.id).toBe('a/two');
  });
});

describe('loadCatalog', () => {
  it.each(['yes', 'no', 'unknown'])('reads a bare %s as a string, not as a boolean', async (word) => {
    const text = row('a/b').replace('rejection: no', `rejection: ${word}`);
    const catalog = await load(await directoryOf({ 'b.yaml': text }));
    expect(catalog.find('a/b')?.chargesOnPolicyRejection).toBe(word);
  });

  it('defaults to a budget of nine minutes and no assets', async () => {
    const catalog = await load(await directoryOf({ 'b.yml': row('a/b') }));
    expect(catalog.find('a/b')).toMatchObject({
      id: 'a/b',
      provider: 'a',
      upstream: { path: 'x' },
      chargesOnPolicyRejection: 'no',
      price: { usd: 0.01, times: [], plus: [], reported: [] },
      budgetMs: 540_000,
      assetPointers: [],
      isAuthored: false,
      counterExamples: [],
    });
  });

  it('knows ended models and their successors, unless a later directory brings them back', async () => {
    const ended = 'ended: 2026-06-30\n';
    const release = await directoryOf({
      '1.yaml': `id: a/old\n${ended}successor: a/new\n`,
      '2.yaml': row('a/new'),
      '3.yaml': `id: a/kept\n${ended}`,
    });
    const own = await directoryOf({ '1.yaml': row('a/kept') });
    const catalog = await load(release, own);
    expect(catalog.models.map(({ id }) => id)).toEqual(['a/kept', 'a/new']);
    expect(catalog.suggest('a/old', () => true)[0]).toBe('a/new');
    const more = await directoryOf({ '1.yaml': `id: a/old\n${ended}price: { usd: 0.01 }\n` });
    await expect(load(more)).rejects.toThrow('1.yaml: Unrecognized key: "price"');
  });

  it('lets a later directory replace, hide and add', async () => {
    const first = await directoryOf({
      '1.yaml': row('a/kept'),
      '2.yaml': row('a/old'),
      '3.yaml': row('a/new'),
    });
    const own = await directoryOf({
      '1.yaml': 'id: a/old\nhidden: true\n',
      '2.yaml': row('a/new', 'budget_seconds: 60\n'),
      '3.yaml': row('b/added'),
      'notes.txt': 'not a row',
      '.hidden.yaml': 'not: a row',
    });
    const catalog = await load(first, own);
    expect(catalog.models.map(({ id, budgetMs }) => [id, budgetMs])).toEqual([
      ['a/kept', 540_000],
      ['a/new', 60_000],
      ['b/added', 540_000],
    ]);
  });

  it('has a revision that depends on the files but not on their location', async () => {
    const files = { 'b.yaml': row('a/b'), 'provider.json': '{}' };
    const edits: Record<string, string>[] = [
      files,
      files,
      { ...files, 'b.yaml': row('a/b', 'budget_seconds: 60\n') },
      { ...files, 'provider.json': '{"a":1}' },
      { 'c.yaml': row('a/b'), 'provider.json': '{}' },
    ];
    const directories = await Promise.all(edits.map(directoryOf));
    const revisions = (await Promise.all(directories.map((each) => load(each)))).map(
      ({ revision }) => revision,
    );
    expect(revisions[1]).toBe(revisions[0]);
    expect(new Set(revisions).size).toBe(4);
  });

  it('throws with every problem of every file', async () => {
    const directory = await directoryOf({ 'a.yaml': 'id: [', 'b.yaml': row('A/b', 'colour: red\n') });
    const failure = load(directory, join(directory, 'absent'));
    await expect(failure).rejects.toThrow(BadCatalog);
    await expect(failure).rejects.toThrow(/a\.yaml.*[^]*b\.yaml#\/id.*[^]*colour.*[^]*absent.*ENOENT/);
  });
});

const provider = (name: string, more = '') =>
  `provider: ${name}\nbase: https://api.example.com\nauth: { authorization: "Key {secret}" }\nsubmit: { url: "{base}/x" }\n${more}`;

describe('a provider of a directory', () => {
  it('serves rows of its directory and of later ones', async () => {
    const one = await directoryOf({ 'p.yaml': provider('acme'), 'm.yaml': row('acme/one') });
    const catalog = await load(one, await directoryOf({ 'm.yaml': row('acme/two') }));
    expect(catalog.models.map(({ id }) => id)).toEqual(['acme/one', 'acme/two']);
    expect(catalog.providers.map(({ name }) => name)).toEqual(['a', 'b', 'acme']);
  });

  it('replaces one of the same name, and is part of the revision', async () => {
    const [plain, own, edited] = await Promise.all([
      load(await directoryOf({ 'm.yaml': row('a/m') })),
      load(await directoryOf({ 'm.yaml': row('a/m'), 'p.yaml': provider('a') })),
      load(await directoryOf({ 'm.yaml': row('a/m'), 'p.yaml': provider('a', 'file_results: true\n') })),
    ]);
    expect(own.providers.find(({ name }) => name === 'a')?.defaultBase).toBe('https://api.example.com');
    expect(new Set([plain.revision, own.revision, edited.revision]).size).toBe(3);
  });

  it('must exist for each row', async () => {
    await expect(load(await directoryOf({ 'm.yaml': row('nobody/m') }))).rejects.toThrow(
      /m\.yaml#\/id: there is no provider "nobody"/,
    );
  });
  it('may differ from the first segment of the id', async () => {
    const catalog = await load(await directoryOf({ 'm.yaml': row('public/m', 'provider: a\n') }));
    expect(catalog.find('public/m')).toMatchObject({ id: 'public/m', provider: 'a' });
    await expect(load(await directoryOf({ 'm.yaml': row('a/m', 'provider: nobody\n') }))).rejects.toThrow(
      /m\.yaml#\/provider: there is no provider "nobody"/,
    );
  });

  it('may not share the names of its settings with another', async () => {
    const files = { '1.yaml': provider('my-lab'), '2.yaml': provider('my.lab') };
    await expect(load(await directoryOf(files))).rejects.toThrow(
      /#\/provider: the provider "my.lab" has the same settings, PROVIDER_MY_LAB/,
    );
  });

  it('has its problems reported by file and place', async () => {
    const files = {
      'p.yaml': provider(
        'acme',
        'poll: { url: "{base}/{task}", status: /s, statuses: {}, interval_seconds: 1 }\n',
      ),
    };
    await expect(load(await directoryOf(files))).rejects.toThrow(
      /p\.yaml#\/poll\/url: there is no \{task\} here/,
    );
  });
});

describe('a row', () => {
  const schema = (text: string) => row('a/b', `input: ${text}\n`);

  it.each([
    ['an unknown field', row('a/b', 'colour: red\n'), ''],
    ['an id in capitals', row('A/b'), '/id'],
    ['a provider segment that is too long', row(`${'a'.repeat(65)}/b`), '/id'],
    ['no upstream path', row('a/b').replace('path: x', 'host: x'), '/upstream/path'],
    [
      'a boolean instead of a word',
      row('a/b').replace('rejection: no', 'rejection: true'),
      '/charges_on_policy_rejection',
    ],
    ['two prices', row('a/b').replace('usd: 0.01', 'usd: 0.01, call: 5'), '/price'],
    ['an asset pointer without slash', row('a/b', 'assets: [url]\n'), '/assets/0'],
    ['too large a budget', row('a/b', 'budget_seconds: 1000000\n'), '/budget_seconds'],
    ['an input that is not an object', schema('{ type: string }'), '/input/type'],
    [
      'an unknown schema keyword',
      schema('{ type: object, properties: { p: { maxlength: 3 } } }'),
      '/input/properties/p/maxlength',
    ],
    [
      'an output schema with a broken reference',
      row('a/b', 'output: { media_type: a/b, schema: { $ref: "#/x" } }\n'),
      '/output/schema/$ref',
    ],
    ['a document in another directory', schema('{ $ref: "../secrets.json#/x" }'), '/input/$ref'],
    ['a missing document', schema('{ $ref: "absent.json#/x" }'), '/input/$ref'],
    ['more than 256 KiB', row('a/b', `# ${'x'.repeat(256 * 1024)}\n`), ''],
    ['a hiding row with more fields', 'id: a/b\nhidden: true\nprice: {}\n', ''],
    ['not an object', '- a\n', ''],
    ['a duplicate key', `${row('a/b')}id: a/c\n`, ''],
    ['an empty file', '', ''],
  ])('may not have %s', async (_, text, pointer) => {
    const directory = await directoryOf({ 'row.yaml': text });
    const { models, problems } = layered([await readDirectory(directory)], builtIn);
    expect(models).toEqual([]);
    expect(problems.map((problem) => [problem.file, problem.pointer])).toContainEqual([
      join(directory, 'row.yaml'),
      pointer,
    ]);
    expect(problems[0]?.reason).toMatch(/\S/);
  });

  it('may refer to a document in its directory', async () => {
    const directory = await directoryOf({
      'row.yaml': schema('{ $ref: "provider.json#/Input" }'),
      'provider.json':
        '{"Input": {"type": "object", "properties": {"seed": {"type": "integer", "nullable": true}}}}',
    });
    const { models, problems } = layered([await readDirectory(directory)], builtIn);
    expect(problems).toEqual([]);
    expect(models[0]?.model.input).toMatchObject({
      type: 'object',
      properties: { seed: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
    });
  });

  it('may extend another row of its directory, and keeps its own fields', async () => {
    const directory = await directoryOf({
      '1.yaml':
        'id: a/fast\nextends: a/slow\nprice: { usd: 0.02, source: null }\nassets: [/audio]\nexample: { a: 1 }\n',
      '2.yaml': row(
        'a/slow',
        'successor: a/new\nbudget_seconds: 60\nassets: [/video, /image]\nexample: { b: 1 }\n',
      ).replace('usd: 0.01', 'usd: 0.01, source: x, plus: [{ usd: 1 }]'),
    });
    const { models, problems } = layered([await readDirectory(directory)], builtIn);
    expect(problems).toEqual([]);
    const fast = models.find(({ model }) => model.id === 'a/fast')?.model;
    expect(fast?.price).not.toHaveProperty('source');
    expect(fast?.successor).toBeUndefined();
    expect(fast).toMatchObject({ budgetMs: 60_000, assetPointers: ['/audio'] });
    expect(fast).toMatchObject({ example: { a: 1 }, price: { usd: 0.02, plus: [{ usd: 1 }] } });
  });

  it.each([
    [
      'that is missing',
      'extends: a/absent\n',
      '/extends',
      'there is no row "a/absent" in the same directory',
    ],
    [
      'that extends a third one',
      'extends: a/second\n',
      '/extends',
      '"a/second" itself extends another row; only one level is allowed',
    ],
    ['and have an unknown field', 'extends: a/first\ncolour: red\n', '', 'Unrecognized key: "colour"'],
  ])('may not extend a row %s', async (_, text, pointer, reason) => {
    const directory = await directoryOf({
      '1.yaml': row('a/first'),
      '2.yaml': 'id: a/second\nextends: a/first\n',
      '3.yaml': `id: a/third\n${text}`,
    });
    const { problems } = layered([await readDirectory(directory)], builtIn);
    expect(problems).toEqual([{ file: join(directory, '3.yaml'), pointer, reason }]);
  });

  it('may not have an id that is already defined in the same directory', async () => {
    const directory = await directoryOf({ '1.yaml': row('a/b'), '2.yaml': row('a/b') });
    const { problems } = layered([await readDirectory(directory)], builtIn);
    expect(problems).toEqual([
      {
        file: join(directory, '2.yaml'),
        pointer: '/id',
        reason: `a/b is already defined in ${join(directory, '1.yaml')}`,
      },
    ]);
  });

  it('cannot explode by YAML aliases', async () => {
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x]',
      ...'bcdefgh'.split('').map((name, index) => {
        const before = 'abcdefgh'[index] ?? '';
        return `${name}: &${name} [${Array.from({ length: 9 }, () => `*${before}`).join(', ')}]`;
      }),
    ].join('\n');
    const { problems } = await readDirectory(await directoryOf({ 'row.yaml': bomb }));
    expect(problems[0]?.reason).toContain('alias');
  });
});
