import { describe, expect, it } from '@jest/globals';
import { inputErrors } from './check-input.js';
import type { JsonSchema } from './json-schema.js';
import { modelOfRow } from './testing/model-of-row.js';

const modelWith = (input: object) =>
  modelOfRow({
    id: 'a/b',
    upstream: { path: 'b' },
    charges_on_policy_rejection: 'no',
    price: { usd: 0.01 },
    input,
  });

/** The errors of a model whose input has one field, `v`. */
const errorsOf = (v: JsonSchema, value: unknown) =>
  inputErrors(modelWith({ type: 'object', properties: { v } }), { v: value });

describe('the error of a keyword', () => {
  const loc = ['body', 'v'];
  it.each<[JsonSchema, unknown, object]>([
    [{ type: 'string' }, 5, { type: 'string_type', msg: 'Input should be a valid string' }],
    [{ type: 'integer' }, '5', { type: 'int_type', msg: 'Input should be a valid integer' }],
    [
      { type: 'integer' },
      5.5,
      { type: 'int_from_float', msg: 'Input should be a valid integer, got a number with a fractional part' },
    ],
    [{ type: 'number' }, null, { type: 'float_type', msg: 'Input should be a valid number' }],
    [{ type: 'number' }, Infinity, { type: 'finite_number', msg: 'Input should be a finite number' }],
    [{ type: 'boolean' }, 'true', { type: 'bool_type', msg: 'Input should be a valid boolean' }],
    [{ type: 'array' }, {}, { type: 'list_type', msg: 'Input should be a valid list' }],
    [{ type: 'object' }, [], { type: 'dict_type', msg: 'Input should be a valid dictionary' }],
    [{ type: 'null' }, 0, { type: 'none_required', msg: 'Input should be None' }],
    [
      { type: 'integer', minimum: 256 },
      100,
      {
        type: 'greater_than_equal',
        msg: 'Input should be greater than or equal to 256',
        ctx: { ge: 256 },
      },
    ],
    [
      { type: 'integer', maximum: 1440 },
      5000,
      { type: 'less_than_equal', msg: 'Input should be less than or equal to 1440', ctx: { le: 1440 } },
    ],
    [
      { type: 'number', exclusiveMinimum: 0 },
      0,
      { type: 'greater_than', msg: 'Input should be greater than 0', ctx: { gt: 0 } },
    ],
    [
      { type: 'number', exclusiveMaximum: 1 },
      1,
      { type: 'less_than', msg: 'Input should be less than 1', ctx: { lt: 1 } },
    ],
    [
      { type: 'integer', multipleOf: 32 },
      33,
      { type: 'multiple_of', msg: 'Input should be a multiple of 32', ctx: { multiple_of: 32 } },
    ],
    [
      { type: 'string', minLength: 1 },
      '',
      {
        type: 'string_too_short',
        msg: 'String should have at least 1 character',
        ctx: { min_length: 1 },
      },
    ],
    [
      { type: 'string', maxLength: 2 },
      'abc',
      {
        type: 'string_too_long',
        msg: 'String should have at most 2 characters',
        ctx: { max_length: 2 },
      },
    ],
    [
      { type: 'string', pattern: '^[a-z]+$' },
      'A',
      {
        type: 'string_pattern_mismatch',
        msg: "String should match pattern '^[a-z]+$'",
        ctx: { pattern: '^[a-z]+$' },
      },
    ],
    [
      { type: 'array', minItems: 1 },
      [],
      {
        type: 'too_short',
        msg: 'List should have at least 1 item after validation, not 0',
        ctx: { field_type: 'List', min_length: 1, actual_length: 0 },
      },
    ],
    [
      { type: 'array', maxItems: 2 },
      [1, 2, 3],
      {
        type: 'too_long',
        msg: 'List should have at most 2 items after validation, not 3',
        ctx: { field_type: 'List', max_length: 2, actual_length: 3 },
      },
    ],
    [
      { type: 'object', minProperties: 1 },
      {},
      {
        type: 'too_short',
        msg: 'Dictionary should have at least 1 item after validation, not 0',
        ctx: { field_type: 'Dictionary', min_length: 1, actual_length: 0 },
      },
    ],
    [
      { type: 'array', items: { type: 'string' }, uniqueItems: true },
      ['a', 'a'],
      {
        type: 'value_error',
        msg: 'Value error, the items are not unique',
        ctx: { error: 'the items are not unique' },
      },
    ],
    [
      { not: { type: 'string' } },
      'a',
      {
        type: 'value_error',
        msg: 'Value error, the value has a form that is not allowed',
        ctx: { error: 'the value has a form that is not allowed' },
      },
    ],
    [
      { type: 'string', enum: ['jpeg', 'png', 'webp'] },
      'gif',
      {
        type: 'enum',
        msg: "Input should be 'jpeg', 'png' or 'webp'",
        ctx: { expected: "'jpeg', 'png' or 'webp'" },
      },
    ],
    [{ enum: [5, 10] }, '5', { type: 'enum', msg: 'Input should be 5 or 10', ctx: { expected: '5 or 10' } }],
    [
      { const: 'dev' },
      'pro',
      { type: 'literal_error', msg: "Input should be 'dev'", ctx: { expected: "'dev'" } },
    ],
  ])('%j refuses %j', (schema, value, words) =>
    // Values that JSON cannot represent are not echoed.
    expect(errorsOf(schema, value)).toEqual([{ loc, ...(value !== Infinity && { input: value }), ...words }]),
  );

  it('names a missing field and echoes the object that lacks it', () => {
    const model = modelWith({ type: 'object', required: ['prompt'], properties: { prompt: {} } });
    expect(inputErrors(model, { seed: 1 })).toEqual([
      { loc: ['body', 'prompt'], msg: 'Field required', type: 'missing', input: { seed: 1 } },
    ]);
  });

  it('names every extra field and echoes it, even one with the name of an inherited property', () => {
    const model = modelWith({ type: 'object', properties: { p: {} }, additionalProperties: false });
    const body: unknown = JSON.parse('{"constructor":1,"__proto__":{"a":2},"p":3}');
    expect(inputErrors(model, body)).toEqual([
      {
        loc: ['body', 'constructor'],
        msg: 'Extra inputs are not permitted',
        type: 'extra_forbidden',
        input: 1,
      },
      {
        loc: ['body', '__proto__'],
        msg: 'Extra inputs are not permitted',
        type: 'extra_forbidden',
        input: { a: 2 },
      },
    ]);
  });

  it.each(['uri', 'uuid', 'date-time', 'binary'])('rejects nothing by the format %s', (format) => {
    expect(errorsOf({ type: 'string', format }, 'neither')).toEqual([]);
  });
});
