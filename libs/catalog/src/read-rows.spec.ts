import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { BadCatalog, loadCatalog } from './load-catalog.js';
import { readRows } from './read-rows.js';

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
  `id: ${id}\nupstream: { path: x }\ncharges_on_policy_rejection: no\nprice: { call: 5 }\n${more}`;

describe('loadCatalog', () => {
  it.each(['yes', 'no', 'unknown'])('reads a bare %s as the text it is, not as a boolean', async (word) => {
    const text = row('a/b').replace('rejection: no', `rejection: ${word}`);
    const catalog = await loadCatalog({ directories: [await directoryOf({ 'b.yaml': text })] });
    expect(catalog.find('a/b')?.chargesOnPolicyRejection).toBe(word);
  });

  it('fills in a budget of nine minutes and no assets', async () => {
    const catalog = await loadCatalog({ directories: [await directoryOf({ 'b.yml': row('a/b') })] });
    expect(catalog.find('a/b')).toEqual({
      id: 'a/b',
      provider: 'a',
      model: 'b',
      upstream: { path: 'x' },
      chargesOnPolicyRejection: 'no',
      price: { call: 5 },
      budgetMs: 540_000,
      assetPointers: [],
      counterExamples: [],
    });
  });

  it('lets a later directory replace, hide and add', async () => {
    const builtIn = await directoryOf({
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
    const catalog = await loadCatalog({ directories: [builtIn, own] });
    expect(catalog.models.map(({ id, budgetMs }) => [id, budgetMs])).toEqual([
      ['a/kept', 540_000],
      ['a/new', 60_000],
      ['b/added', 540_000],
    ]);
  });

  it('throws with every problem of every file', async () => {
    const directory = await directoryOf({ 'a.yaml': 'id: [', 'b.yaml': row('A/b', 'colour: red\n') });
    const failure = loadCatalog({ directories: [directory, join(directory, 'absent')] });
    await expect(failure).rejects.toThrow(BadCatalog);
    await expect(failure).rejects.toThrow(/a\.yaml.*[^]*b\.yaml#\/id.*[^]*colour.*[^]*absent.*ENOENT/);
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
    [
      'two prices',
      row('a/b').replace('call: 5', 'call: 5, unit: { pointer: /n, micros: 1, default: 1 }'),
      '/price',
    ],
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
    const { found, problems } = await readRows([directory]);
    expect(found).toEqual([]);
    expect(problems.map((problem) => [problem.file, problem.pointer])).toContainEqual([
      join(directory, 'row.yaml'),
      pointer,
    ]);
    expect(problems[0]?.reason).toMatch(/\S/);
  });

  it('may refer to a document that lies beside it', async () => {
    const directory = await directoryOf({
      'row.yaml': schema('{ $ref: "partner.json#/Input" }'),
      'partner.json':
        '{"Input": {"type": "object", "properties": {"seed": {"type": "integer", "nullable": true}}}}',
    });
    const { found, problems } = await readRows([directory]);
    expect(problems).toEqual([]);
    expect(found[0]?.model.input).toEqual({
      type: 'object',
      properties: { seed: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
    });
  });

  it('may not describe an id that the same directory describes already', async () => {
    const directory = await directoryOf({ '1.yaml': row('a/b'), '2.yaml': row('a/b') });
    const { problems } = await readRows([directory]);
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
    const { problems } = await readRows([await directoryOf({ 'row.yaml': bomb })]);
    expect(problems[0]?.reason).toContain('alias');
  });
});
