import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { modelOfRow } from './testing/model-of-row.js';
import { upperBoundMicros } from './price.js';

const priced = (price: object) =>
  modelOfRow({ id: 'a/b', upstream: { path: 'b' }, charges_on_policy_rejection: 'no', price });

const forms = {
  call: priced({ call: 40_000 }),
  unit: priced({ unit: { pointer: '/num_images', micros: 25_000, default: 1 } }),
  text: priced({ text: { pointer: '/input', micros_per_byte: 30 } }),
  table: priced({ table: { pointer: '/duration', micros: { '5s': 100, '10s': 300 }, default: '5s' } }),
  area: priced({
    area: {
      width: { pointer: '/size/width', default: 512 },
      height: { pointer: '/size/height', default: 512 },
      micros_per_megapixel: 1000,
      least_megapixels: 2,
      count: { pointer: '/n', default: 1 },
    },
  }),
};

describe('upperBoundMicros', () => {
  it.each([
    ['call', {}, 40_000],
    ['unit', {}, 25_000],
    ['unit', { num_images: null }, 25_000],
    ['unit', { num_images: 4 }, 100_000],
    ['unit', { num_images: 0.3 }, 7500],
    ['unit', { num_images: 0.00001 }, 1],
    ['unit', { num_images: '4' }, 25_000],
    ['unit', { num_images: -4 }, 25_000],
    ['text', { input: 'Hello' }, 150],
    ['text', { input: 'é日' }, 150],
    ['text', {}, 0],
    ['text', { input: 5 }, 0],
    ['table', {}, 100],
    ['table', { duration: '10s' }, 300],
    ['table', { duration: 'for ever' }, 300],
    ['table', { duration: 'constructor' }, 300],
    ['table', { duration: { s: 5 } }, 300],
    ['area', {}, 2000],
    ['area', { size: 'square', n: 3 }, 6000],
    ['area', { size: { width: 2000, height: 1001 } }, 3000],
    ['area', { size: { width: 10_000 } }, 6000],
  ] as const)('%s of %j', (form, body, micros) => expect(upperBoundMicros(forms[form], body)).toBe(micros));

  it('is a safe integer that is not negative, whatever the input', () => {
    const body = fc.record({ num_images: fc.anything(), duration: fc.anything(), size: fc.anything() });
    fc.assert(
      fc.property(fc.oneof(body, fc.anything()), fc.constantFrom(...Object.values(forms)), (value, model) => {
        const micros = upperBoundMicros(model, value);
        expect(Number.isSafeInteger(micros) && micros >= 0).toBe(true);
      }),
    );
    expect(upperBoundMicros(forms.unit, { num_images: 1e300 })).toBe(Number.MAX_SAFE_INTEGER);
  });
});

describe('a price', () => {
  it.each([
    {},
    { call: 1.5 },
    { call: -1 },
    { call: 1, unit: { pointer: '/n', micros: 1, default: 1 } },
    { unit: { pointer: 'n', micros: 1, default: 1 } },
    { table: { pointer: '/d', micros: { a: 1 }, default: 'b' } },
  ])('is not %j', (price) => expect(() => priced(price)).toThrow('"path":["price"'));
});
