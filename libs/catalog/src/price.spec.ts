import { beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { loadCatalog } from './load-catalog.js';
import type { Model } from './model.js';
import { pricePointers } from './price.js';
import { quote } from './quote.js';
import { modelOfRow } from './testing/model-of-row.js';

const priced = (price: object) =>
  modelOfRow({ id: 'a/b', upstream: { path: 'b' }, charges_on_policy_rejection: 'no', price });

/** The quote of one factor at a cent. */
const cents = (factor: object, input: unknown) => {
  const { upperMicros, computedMicros } = quote(priced({ usd: 0.01, times: [factor] }), input);
  return [upperMicros / 10_000, computedMicros / 10_000];
};

describe('a factor: the upper bound and the billed amount', () => {
  const seconds = { number: '/seconds', default: 5, max: 12 };
  const minutes = { number: '/ms', per: 60_000, minus: 1, default: 90_000 };
  const frames = { number: '/seconds', alternatives: [{ path: '/frames', per: 24 }], default: 5, max: 12 };
  const shots = { number: '/seconds', alternatives: [{ path: '/shots/*/seconds' }], default: 5 };
  const floored = { number: '/seconds', min: 4, default: 5 };
  const flagged = { ...seconds, flags: { path: '/prompt', names: ['dur', 'duration'] } };
  const lines = {
    table: '/lines',
    alternatives: ['/size'],
    values: { '480p': 1, '1080p': 4, '1*1': 2 },
    default: '480p',
  };
  const flaggedLines = { ...lines, flags: { path: '/parts/*/text', names: ['rs'] } };
  const worst = { present: [''], each: 0, max_each: 1 };
  const size = { table: '/size', values: { small: 1, 'wide*': 3, large: 2 }, default: 'small' };
  const other = { table: '/size', values: { '480p': 1, '*': 2 } };
  const text = { characters: '/text', per: 2, max_each: 3 };
  const area = { megapixels: ['/w', '/h'], max: 4, min: 1, minus: 1 };
  const images = { present: ['/a', '/b', '/more'], each: 2, max_each: 3, max_count: 3 };
  const videos = { present: ['/content/*/video_url'] };
  const withoutVideo = { absent: ['/content/*/video_url'] };
  const tokens = { tokens: '/contents', max: 100 };
  const plain = { tokens: '', max: 2000, unbounded_fields: ['image_url', 'tools'] };
  const referring = { tokens: '', max: 2000, unbounded_fields: [{ field: 'id', types: ['ref'] }] };
  const said = { messages: [{ role: 'user', content: 'é'.repeat(40) }] };
  it.each([
    [seconds, {}, 12, 5],
    [seconds, { seconds: 8 }, 8, 8],
    [seconds, { seconds: 20 }, 20, 20],
    [seconds, { seconds: '8s' }, 8, 8],
    [seconds, { seconds: -1 }, 12, 5],
    [seconds, { seconds: 'auto' }, 12, 5],
    [seconds, { seconds: ' 10' }, 10, 10],
    [seconds, { seconds: '1e1' }, 10, 10],
    [seconds, { seconds: 0.001 }, 1, 1],
    [seconds, { seconds: '0.001' }, 1, 1],
    [floored, { seconds: 2 }, 4, 4],
    [floored, { seconds: 4.5 }, 4.5, 4.5],
    [frames, { seconds: 2, frames: 240 }, 10, 10],
    [frames, { seconds: 8, frames: 24 }, 8, 8],
    [frames, { frames: 48 }, 2, 2],
    [frames, { seconds: -1, frames: 48 }, 12, 2],
    [frames, { seconds: null, frames: 48 }, 2, 2],
    [frames, {}, 12, 5],
    [shots, { seconds: 3, shots: [{ seconds: '4' }, { seconds: 6 }] }, 10, 10],
    [flagged, { seconds: 2, prompt: 'a heron --DUR 10' }, 12, 2],
    [flagged, { seconds: 2, prompt: 'a heron -- dur 10' }, 2, 2],
    [lines, { lines: '480p', size: '1*1' }, 2, 2],
    [lines, { lines: '480p', size: '9*9' }, 4, 4],
    [lines, { size: '1*1' }, 2, 2],
    [lines, {}, 1, 1],
    [flaggedLines, { lines: '480p', parts: [{ text: 'a' }, { text: 'b --rs 1080p' }] }, 4, 1],
    [worst, {}, 1, 0],
    [minutes, {}, 0.5, 0.5],
    [minutes, { ms: 30_000 }, 0, 0],
    [minutes, { ms: 180_000 }, 2, 2],
    [videos, { content: [{ text: 'a' }, { video_url: { url: 'u' } }] }, 1, 1],
    [withoutVideo, { content: [{ text: 'a' }, { video_url: { url: 'u' } }] }, 0, 0],
    [withoutVideo, { content: [{ text: 'a' }] }, 1, 1],
    [size, {}, 1, 1],
    [size, { size: 'large' }, 2, 2],
    [size, { size: 'widest' }, 3, 3],
    [size, { size: 'unknown' }, 3, 3],
    [size, { size: 'constructor' }, 3, 3],
    [size, { size: { w: 1 } }, 3, 3],
    [other, {}, 2, 2],
    [other, { size: '480p' }, 1, 1],
    [other, { size: 720 }, 2, 2],
    [{ table: '/sound', values: { true: 2, false: 1 }, default: true }, { sound: false }, 1, 1],
    [{ table: '/sound', values: { true: 2, false: 1 }, default: true }, {}, 2, 2],
    [text, {}, 0, 0],
    [text, { text: 'four' }, 6, 2],
    [text, { text: '日本' }, 3, 1],
    [text, { text: '🙂🙂' }, 6, 1],
    [{ characters: '/lines/*' }, { lines: ['ab', 'c', 4] }, 3, 3],
    [area, {}, 3, 0],
    [area, { w: 1024 }, 3, 0],
    [area, { w: 10_000 }, 10, 0],
    [area, { w: 1024, h: 1024 }, 1, 0],
    [area, { w: 2048, h: 2048 }, 4, 3],
    [images, {}, 0, 0],
    [images, { a: 'x', b: null, more: ['y'] }, 6, 4],
    [images, { a: 'x', b: 'y', more: ['z', 'z', 'z'] }, 9, 6],
    [tokens, { contents: [{ parts: [{ text: 'x'.repeat(40) }] }] }, 100, 10],
    [tokens, { contents: 'x'.repeat(4000) }, 100, 100],
    // 80 bytes of text and 4 of the role, plus for each member its name and four bytes.
    [plain, said, 1000 + 84 + 12 + 5 + 8 + 11, 21],
    [plain, { ...said, n: 1, tools: null }, 1120 + 6 + 13, 21],
    [plain, { ...said, tools: [{ type: 'search' }] }, 2000, 22.5],
    [{ ...plain, unbounded_fields: ['n'] }, { ...said, n: 1, tools: null }, 2000, 21],
    // An id refers to something if nothing says what it is, or if it is a reference.
    [referring, { items: [{ id: 'm1' }] }, 2000, 0.5],
    [referring, { items: [{ type: 'ref', ID: 'm1' }] }, 2000, 1.25],
    [referring, { items: [{ type: 7, id: 'm1' }] }, 2000, 0.5],
    [referring, { items: [{ type: 'said', id: 'm1' }] }, 1000 + 9 + 5 + 12 + 8, 1.5],
    [plain, { messages: [{ content: [{ image_url: 'https://a.example/x.png' }] }] }, 2000, 5.75],
    [plain, { messages: 'x'.repeat(40_000) }, 2000, 2000],
    [
      { present: ['/m/*/cache'], each: 0, max_each: 1, max_count: 1 },
      { m: [{ cache: {} }, {}, { cache: {} }] },
      1,
      0,
    ],
  ])('%j of %j: %d and %d', (factor, input, bound, computed) =>
    expect(cents(factor, input)).toEqual([bound, computed]),
  );
});

describe('quote', () => {
  it('adds terms and multiplies factors, without the error of binary fractions', () => {
    const times = [{ number: '/seconds' }, { table: '/sound', values: { true: 2, false: 1 } }];
    const model = priced({ usd: 0.1, times, plus: [{ usd: 0.05 }] });
    expect(quote(model, { seconds: 3, sound: true })).toEqual({
      upperMicros: 650_000,
      lowering: { field: 'seconds', isSet: true },
      computedMicros: 650_000,
      basis: 'computed',
      reported: [],
    });
    expect(quote(priced({ usd: 0.1, times: [{ number: '/n' }] }), { n: 3 }).computedMicros).toBe(300_000);
    expect(quote(priced({ usd: 0.0000001 }), {})).toMatchObject({ computedMicros: 1, basis: 'flat' });
  });

  it('multiplies the reported numbers by the factors of the input', () => {
    const { reported } = quote(
      priced({
        usd: 1,
        reported: [
          {
            path: '/usage/tokens',
            usd: 0.0000024,
            times: [{ table: '/sound', values: { true: 1, false: 0.5 } }],
          },
          { header: 'character-cost', usd: 0.0001, optional: true },
          { count: '/videos', usd: 0.1, times: [{ number: '/seconds', default: 8, max: 60 }] },
          { path: '/usage/*/tokens', only: { modality: 'IMAGE' }, usd: 0.00003 },
          { path: '/out', when: { path: '/in', above: 200 }, usd: 0.000001 },
        ],
      }),
      { sound: false },
    );
    // Runs store these names, and earlier and later releases read them.
    expect(reported).toEqual([
      { at: '/usage/tokens', micros: 1.2 },
      { header: 'character-cost', optional: true, micros: 100 },
      { count: '/videos', micros: 800_000 },
      { at: '/usage/*/tokens', only: { modality: 'IMAGE' }, micros: 30 },
      { at: '/out', when: { at: '/in', above: 200 }, micros: 1 },
    ]);
  });

  it('stays a safe integer', () => {
    const model = priced({
      usd: 1,
      times: [{ number: '/a' }, { number: '/b' }, { table: '/c', values: { x: 0, y: 1 } }],
    });
    expect(quote(model, { a: 1e300, b: Infinity, c: 'x' })).toMatchObject({ upperMicros: 0 });
    expect(quote(model, { a: 1e300, b: 1e300 })).toMatchObject({
      upperMicros: Number.MAX_SAFE_INTEGER,
      computedMicros: Number.MAX_SAFE_INTEGER,
    });
  });
});

describe('the prices of the built-in rows', () => {
  let models: readonly Model[];
  beforeAll(async () => ({ models } = await loadCatalog()));

  it('reserve at least what they bill, whatever the input', () => {
    for (const model of models) {
      fc.assert(
        fc.property(inputOf(model), (input) => {
          const { upperMicros, computedMicros, reported } = quote(model, input);
          expect(Number.isSafeInteger(upperMicros) && computedMicros >= 0).toBe(true);
          expect(upperMicros).toBeGreaterThanOrEqual(computedMicros);
          expect(reported.every(({ micros }) => Number.isFinite(micros) && micros >= 0)).toBe(true);
        }),
        { numRuns: 25 },
      );
    }
  });

  /** Any value at the places that the price reads, including the keys of its tables. */
  function inputOf({ price }: Model): fc.Arbitrary<unknown> {
    const keys = [price, ...price.plus].flatMap(({ times }) =>
      times.flatMap((factor) => ('table' in factor ? Object.keys(factor.values) : [])),
    );
    const value = fc.oneof(
      fc.constantFrom(...keys, undefined, null, true),
      fc.integer(),
      fc.double(),
      fc.string({ unit: 'binary' }),
      fc.array(fc.string()),
    );
    const pointers = pricePointers(price);
    return fc
      .tuple(...pointers.map(() => value))
      .map((values) =>
        pointers.reduce(
          (input, pointer, index) => placed(input, pointer.split('/').slice(1), values[index]),
          {},
        ),
      );
  }

  const placed = (input: object, [name = '', ...rest]: string[], value: unknown): object => {
    const before: unknown = Object.entries(input).find(([key]) => key === name)?.[1];
    const inner = typeof before === 'object' && before !== null ? before : {};
    return { ...input, [name]: rest.length === 0 ? value : placed(inner, rest, value) };
  };
});

describe('a price', () => {
  it.each([
    {},
    { usd: -1 },
    { usd: 1, times: [{}] },
    { usd: 1, times: [{ number: 'n' }] },
    { usd: 1, times: [{ number: '/n', max: 4, default: 5 }] },
    { usd: 1, times: [{ number: '/n', flags: { path: '/prompt', names: ['n'] } }] },
    { usd: 1, times: [{ table: '/d', values: { a: 1 }, default: 'b' }] },
    { usd: 1, times: [{ present: ['/a'], max_each: 0.5 }] },
    { usd: 1, reported: [{ header: 'Cost', usd: 1 }] },
    { usd: 1, date: 'yesterday' },
  ])('is not %j', (price) => expect(() => priced(price)).toThrow('"path":["price"'));
});
