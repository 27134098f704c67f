import { expect, it } from '@jest/globals';
import { modelOfRow } from './testing/model-of-row.js';
import { unknownFields } from './unknown-fields.js';

const fields = ['prompt', 'height', 'width', 'image_url', 'input_image_2', 'seed', 'n', 'x-odd name'];
const row = {
  id: 'a/b',
  upstream: { path: 'b' },
  charges_on_policy_rejection: 'no',
  price: { usd: 0.01 },
  input: {
    type: 'object',
    properties: Object.fromEntries(fields.map((name) => [name, { type: 'string' }])),
    anyOf: [
      { properties: { duration: { type: 'integer' } } },
      { properties: { frames: { type: 'integer' } } },
    ],
  },
  example: { prompt: 'a cat' },
};
const model = modelOfRow(row);
const pointedOut = (names: string[]) =>
  unknownFields(model, Object.fromEntries(names.map((name) => [name, 1]))).map(
    ({ name, suggestion }) => `${name}: ${suggestion}`,
  );

it.each([
  ['two letters that changed places', 'hieght', 'height'],
  ['a missing letter', 'promt', 'prompt'],
  ['the other spelling', 'imageUrl', 'image_url'],
  ['another case', 'Seed', 'seed'],
  ['a field of a branch', 'duratoin', 'duration'],
])('suggests the similar field for %s', (_, name, suggestion) =>
  expect(pointedOut([name])).toEqual([`${name}: ${suggestion}`]),
);

it('is silent about known fields, about new ones that resemble none, and about numbers', () => {
  expect(pointedOut(['prompt', 'height', 'frames', 'n'])).toEqual([]);
  expect(pointedOut(['field_of_tomorrow', 'm', 'input_image_3'])).toEqual([]);
});

it('is silent if the similar field is there too', () => expect(pointedOut(['height', 'heigth'])).toEqual([]));

it('lists ten at most, and only names that fit in a header', () => {
  expect(pointedOut(['prompt\r\nset-cookie: a', 'prömpt', 'p'.repeat(70)])).toEqual([]);
  const typos = ['heigh', 'heigt', 'heght', 'hight', 'eight', 'hheight', 'heeight', 'heiight', 'heigght'];
  expect(pointedOut([...typos, 'heighht', 'heightt', 'widht'])).toHaveLength(10);
});

it('is silent about both spellings if the provider accepts both', () => {
  const both = { ...model, takesBothSpellings: true };
  expect(unknownFields(both, { imageUrl: 'a' })).toEqual([]);
  expect(unknownFields(both, { imageUlr: 'a' })).toEqual([{ name: 'imageUlr', suggestion: 'image_url' }]);
});
