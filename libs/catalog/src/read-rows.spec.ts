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

/** The rows below are of providers that no release has. */
const builtIn = providerList.slice(0, 2).map((some, index) => ({ ...some, name: ['a', 'b'][index] ?? '' }));
const load = (...directories: string[]) => loadCatalog({ directories, builtIn });

describe('aliases', () => {
  it('name one model each, of all directories together', async () => {
    const taken = await directoryOf({
      '1.yaml': row('a/one', 'aliases: [b/x, a/two]\n'),
      '2.yaml': row('a/two', 'aliases: [b/x]\n'),
      '3.yaml': 'id: a/three\nended: 2026-01-01\naliases: [b-ai/x/y, a/one]\n',
    });
    await expect(load(taken)).rejects.toThrow(
      /1\.yaml#\/aliases\/1: a\/two is a name of a\/two\n.*2\.yaml#\/aliases\/0: b\/x is a name of a\/one\n.*3\.yaml#\/aliases\/1: a\/one is a name of a\/one$/,
    );
  });

  it('go with the row that a later directory replaces', async () => {
    const release = await directoryOf({ 'm.yaml': row('a/one', 'aliases: [b/x]\n') });
    const own = await directoryOf({ 'm.yaml': row('a/one'), 'n.yaml': row('a/two', 'aliases: [b/x]\n') });
    expect((await load(release, own)).find('b/x')?.id).toBe('a/two');
  });
});

describe('loadCatalog', () => {
  it.each(['yes', 'no', 'unknown'])('reads a bare %s as the text it is, not as a boolean', async (word) => {
    const text = row('a/b').replace('rejection: no', `rejection: ${word}`);
    const catalog = await load(await directoryOf({ 'b.yaml': text }));
    expect(catalog.find('a/b')?.chargesOnPolicyRejection).toBe(word);
  });

  it('fills in a budget of nine minutes and no assets', async () => {
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

  it('knows models that have ended, by their successors, unless a later directory brings them back', async () => {
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

  it('has a revision that follows the files, wherever they lie', async () => {
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
  it('is at home for rows, of its directory and of later ones', async () => {
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

  it('must be there for each row', async () => {
    await expect(load(await directoryOf({ 'm.yaml': row('nobody/m') }))).rejects.toThrow(
      /m\.yaml#\/id: no provider is named nobody/,
    );
  });

  it('may differ from the first segment of the id', async () => {
    const catalog = await load(await directoryOf({ 'm.yaml': row('public/m', 'provider: a\n') }));
    expect(catalog.find('public/m')).toMatchObject({ id: 'public/m', provider: 'a' });
    await expect(load(await directoryOf({ 'm.yaml': row('a/m', 'provider: nobody\n') }))).rejects.toThrow(
      /m\.yaml#\/provider: no provider is named nobody/,
    );
  });

  it('may not share the names of its settings with another', async () => {
    const files = { '1.yaml': provider('my-lab'), '2.yaml': provider('my.lab') };
    await expect(load(await directoryOf(files))).rejects.toThrow(
      /#\/provider: my.lab has the same settings, PROVIDER_MY_LAB/,
    );
  });

  it('has its problems told by file and place', async () => {
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
      'a quoted true for a word',
      row('a/b').replace('rejection: no', 'rejection: true'),
      '/charges_on_policy_rejection',
    ],
    ['two prices', row('a/b').replace('usd: 0.01', 'usd: 0.01, call: 5'), '/price'],
    ['an asset pointer without slash', row('a/b', 'assets: [url]\n'), '/assets/0'],
    ['an endless budget', row('a/b', 'budget_seconds: 1000000\n'), '/budget_seconds'],
    ['an input that is no object', schema('{ type: string }'), '/input/type'],
    [
      'a keyword that schemas do not have',
      schema('{ type: object, properties: { p: { maxlength: 3 } } }'),
      '/input/properties/p/maxlength',
    ],
    [
      'an output schema that names nothing',
      row('a/b', 'output: { media_type: a/b, schema: { $ref: "#/x" } }\n'),
      '/output/schema/$ref',
    ],
    ['a document of another directory', schema('{ $ref: "../secrets.json#/x" }'), '/input/$ref'],
    ['a document that is not there', schema('{ $ref: "absent.json#/x" }'), '/input/$ref'],
    ['more than 256 KiB', row('a/b', `# ${'x'.repeat(256 * 1024)}\n`), ''],
    ['a hiding row with more', 'id: a/b\nhidden: true\nprice: {}\n', ''],
    ['not an object', '- a\n', ''],
    ['a doubled key', `${row('a/b')}id: a/c\n`, ''],
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

  it('may refer to a document that lies beside it', async () => {
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

  it('may extend another one of its directory, and keeps what it says itself', async () => {
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
    ['that is not there', 'extends: a/absent\n', '/extends', 'no row in the same directory is "a/absent"'],
    ['that extends a third one', 'extends: a/second\n', '/extends', '"a/second" itself extends another row'],
    ['and have a field that no row has', 'extends: a/first\ncolour: red\n', '', 'Unrecognized key: "colour"'],
  ])('may not extend one %s', async (_, text, pointer, reason) => {
    const directory = await directoryOf({
      '1.yaml': row('a/first'),
      '2.yaml': 'id: a/second\nextends: a/first\n',
      '3.yaml': `id: a/third\n${text}`,
    });
    const { problems } = layered([await readDirectory(directory)], builtIn);
    expect(problems).toEqual([{ file: join(directory, '3.yaml'), pointer, reason }]);
  });

  it('may not describe an id that the same directory describes already', async () => {
    const directory = await directoryOf({ '1.yaml': row('a/b'), '2.yaml': row('a/b') });
    const { problems } = layered([await readDirectory(directory)], builtIn);
    expect(problems).toEqual([
      {
        file: join(directory, '2.yaml'),
        pointer: '/id',
        reason: `a/b is already described by ${join(directory, '1.yaml')}`,
      },
    ]);
  });

  it('cannot blow up by aliases', async () => {
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
