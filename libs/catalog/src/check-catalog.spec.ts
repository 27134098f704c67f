import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { providerList } from '#providers';
import { checkCatalog } from './check-catalog.js';

const sound = {
  id: 'a/b',
  upstream: { path: 'b' },
  charges_on_policy_rejection: 'no',
  price: { usd: 0.01, times: [{ number: '/n' }] },
  assets: ['/images/*/url'],
  input: {
    type: 'object',
    required: ['prompt'],
    additionalProperties: false,
    properties: { prompt: { type: 'string' }, n: { type: 'integer', maximum: 4 } },
  },
  output: {
    media_type: 'application/json',
    schema: {
      type: 'object',
      properties: { images: { type: 'array', items: { type: 'object', properties: { url: {} } } } },
    },
  },
  example: { prompt: 'a cat' },
  counter_examples: [
    {
      input: { n: 5 },
      errors: [
        { loc: ['body', 'n'], type: 'less_than_equal' },
        { loc: ['body', 'prompt'], type: 'missing' },
      ],
    },
  ],
};

async function problemsOf(
  row: object,
  provider = 'a',
  checking?: (models: number, of: number) => void,
): Promise<string[][]> {
  const directory = await mkdtemp(join(tmpdir(), 'catalog-'));
  try {
    await writeFile(join(directory, 'row.yaml'), stringify(row));
    const builtIn = providerList.slice(0, 1).map((some) => ({ ...some, name: provider }));
    const problems = await checkCatalog({ directories: [directory], builtIn }, checking);
    return problems.map(({ pointer, reason, isWarning }) =>
      isWarning ? [pointer, reason, 'warning'] : [pointer, reason],
    );
  } finally {
    await rm(directory, { recursive: true });
  }
}

const withProperty = (name: string, schema: object) => ({
  ...sound,
  input: { ...sound.input, properties: { ...sound.input.properties, [name]: schema } },
});

const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

describe('checkCatalog', () => {
  it('reports nothing for a valid row, with or without a schema', async () => {
    expect(await problemsOf(sound)).toEqual([]);
    const { input: _input, example: _example, counter_examples: _counter, output: _output, ...bare } = sound;
    expect(await problemsOf(bare)).toEqual([]);
  });

  it('warns of a missing server, and rejects servers that callers could not tell apart', async () => {
    expect(await problemsOf({ ...sound, servers: ['z/b', 'a/c', 'z/c'] })).toEqual([
      ['/servers/0', 'there is no model z/b', 'warning'],
      ['/servers/1', 'a already serves this model'],
      ['/servers/2', 'z already serves this model'],
    ]);
  });

  it.each([
    ['an unreadable row', { ...sound, id: 'B' }, '/id', 'must be provider/model'],
    [
      'a keyword that has no effect',
      withProperty('m', { type: 'string', minimum: 1 }),
      '/input/properties/m/minimum',
      'does not apply',
    ],
    [
      'a pattern that has no linear-time form',
      withProperty('m', { type: 'string', pattern: '(?=x)' }),
      '/input/properties/m/pattern',
      'linear-time',
    ],
    [
      'a broken output schema',
      { ...sound, output: { media_type: 'a/b', schema: { type: 'string', minimum: 1 } } },
      '/output/schema/minimum',
      'does not apply',
    ],
    [
      'a callback field',
      withProperty('webhook_url', { type: 'string' }),
      '/input/properties/webhook_url',
      'always rejected',
    ],
    [
      'a price by an undeclared input',
      { ...sound, price: { usd: 0.01, times: [{ number: '/count' }] } },
      '/price',
      '/count',
    ],
    ['an asset that is not in the output', { ...sound, assets: ['/images/url'] }, '/assets/0', '/images/url'],
    ['no example', { ...sound, example: undefined }, '/example', 'needs an example'],
    ['an example that fails', { ...sound, example: { prompt: 'a', n: 9 } }, '/example/n', 'less_than_equal'],
    [
      'a counter-example that passes',
      {
        ...sound,
        counter_examples: [{ input: { prompt: 'a' }, errors: [{ loc: ['body', 'n'], type: 'int_type' }] }],
      },
      '/counter_examples/0',
      'fails with no error',
    ],
    [
      'a counter-example that also fails elsewhere',
      {
        ...sound,
        counter_examples: [{ input: { n: 5 }, errors: [{ loc: ['body', 'n'], type: 'less_than_equal' }] }],
      },
      '/counter_examples/0',
      'missing',
    ],
  ])('finds %s', async (_, row, pointer, reason) => {
    expect(await problemsOf(row)).toContainEqual([pointer, expect.stringContaining(reason)]);
  });

  it('warns of a model that ends within thirty days, and rejects one that has ended', async () => {
    expect(await problemsOf({ ...sound, ends: day(32) })).toEqual([]);
    expect(await problemsOf({ ...sound, ends: day(29) })).toEqual([
      ['/ends', `the model ends on ${day(29)}`, 'warning'],
    ]);
    expect(await problemsOf({ ...sound, ends: day(0), successor: 'a/none' })).toEqual([
      ['/ends', expect.stringContaining('ended on')],
      ['/successor', 'there is no model a/none', 'warning'],
    ]);
  });

  it('warns of each price that was read long ago, of one that was replaced, and of one that applies before its day', async () => {
    expect(await problemsOf(pricedBy({ usd: 1 }, { from: day(9), usd: 2, date: day(-91) }))).toEqual([
      ['/price/1/date', `the price was read on ${day(-91)}, more than 90 days ago`, 'warning'],
    ]);
    expect(
      await problemsOf(
        pricedBy({ usd: 1, date: day(-91) }, { from: day(-3), usd: 2 }, { from: day(9), usd: 3 }),
      ),
    ).toEqual([['/price/0', `another price replaced this one on ${day(-3)}: remove it`, 'warning']]);
    expect(await problemsOf(pricedBy({ from: day(3), usd: 1 }))).toEqual([
      ['/price/from', `the price applies already, because there is none before ${day(3)}`, 'warning'],
    ]);
    expect(await problemsOf(pricedBy({ from: day(-3), usd: 1 }))).toEqual([]);
  });

  it.each([
    ['without a day', [{ usd: 1 }, { usd: 2 }], '/price/1/from', 'needs the day'],
    [
      'of the same day',
      [
        { from: '2027-01-01', usd: 1 },
        { from: '2027-01-01', usd: 2 },
      ],
      '/price/1/from',
      'must be later than 2027-01-01',
    ],
    [
      'in the wrong order',
      [{ usd: 1 }, { from: '2027-02-01', usd: 2 }, { from: '2027-01-01', usd: 3 }],
      '/price/2/from',
      'must be later than 2027-02-01',
    ],
    [
      'that is not a number',
      [{ usd: 1 }, { from: '2027-01-01', usd: 'much' }],
      '/price/1/usd',
      'expected number',
    ],
    [
      'by an undeclared input',
      [{ usd: 1 }, { from: '2027-01-01', usd: 1, times: [{ number: '/k' }] }],
      '/price',
      '/k',
    ],
    ['with a day outside of a list', { from: '2027-01-01', usd: 1 }, '/price', 'from'],
  ])('finds a price %s, and names its field', async (_, price, pointer, reason) => {
    const found = await problemsOf({ ...sound, price });
    expect(found).toContainEqual([pointer, expect.stringContaining(reason)]);
  });

  it('warns of a price that was read more than ninety days ago', async () => {
    const read = (days: number) => ({ ...sound, price: { ...sound.price, date: day(-days) } });
    expect(await problemsOf(read(89))).toEqual([]);
    expect(await problemsOf(read(92))).toEqual([
      ['/price/date', `the price was read on ${day(-92)}, more than 90 days ago`, 'warning'],
    ]);
  });

  it('finds an example that needs a member which the router adds', async () => {
    const constants = { model: 'b-1' };
    expect(await problemsOf({ ...sound, constants })).toEqual([]);
    const input = { ...sound.input, minProperties: 2 };
    expect(await problemsOf({ ...sound, constants, input, counter_examples: [] })).toEqual([
      ['/example', expect.stringContaining('too_short')],
    ]);
  });

  it('reports its progress, counted from one', async () => {
    const progress: number[][] = [];
    await problemsOf(sound, 'a', (...counts) => progress.push(counts));
    expect(progress).toEqual([[1, 1]]);
  });

  it('finds an id whose provider does not exist', async () => {
    expect(await problemsOf(sound, 'bfl')).toEqual([['/id', 'there is no provider "a"']]);
  });
});

const pricedBy = (...price: object[]) => ({ ...sound, price });
