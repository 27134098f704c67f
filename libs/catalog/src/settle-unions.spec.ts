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

describe('unions', () => {
  const nullable: JsonSchema = { anyOf: [{ type: 'integer', minimum: 64 }, { type: 'null' }] };

  it('with null report only the other branch', () => {
    expect(errorsOf(nullable, null)).toEqual([]);
    expect(errorsOf(nullable, 3)).toMatchObject([{ type: 'greater_than_equal', ctx: { ge: 64 } }]);
    expect(errorsOf(nullable, 'x')).toMatchObject([{ type: 'int_type' }]);
    const nullFirst: JsonSchema = { anyOf: [{ type: 'null' }, { type: 'integer' }] };
    expect(errorsOf(nullFirst, 'x')).toMatchObject([{ type: 'int_type' }]);
  });

  const size: JsonSchema = {
    anyOf: [
      {
        type: 'object',
        required: ['width'],
        properties: { width: { type: 'integer', minimum: 1 }, height: { type: 'integer', minimum: 1 } },
      },
      { type: 'string', enum: ['square', 'wide'] },
    ],
  };

  it.each([
    ['huge', [['body', 'v'], 'enum']],
    [{ width: 0 }, [['body', 'v', 'width'], 'greater_than_equal']],
    [{}, [['body', 'v', 'width'], 'missing']],
  ])('report the branch that got deepest, or whose type matches: %j', (value, [loc, type]) => {
    expect(errorsOf(size, value)).toMatchObject([{ loc, type }]);
  });

  it('are resolved element by element, from the inside out', () => {
    const list: JsonSchema = { type: 'array', items: { anyOf: [size, { type: 'null' }] } };
    expect(errorsOf(list, ['wide', 'huge', null, { width: 0, height: 0 }])).toMatchObject([
      { loc: ['body', 'v', 1], type: 'enum' },
      { loc: ['body', 'v', 3, 'width'], type: 'greater_than_equal' },
      { loc: ['body', 'v', 3, 'height'], type: 'greater_than_equal' },
    ]);
  });

  const shapes: JsonSchema = {
    oneOf: [
      {
        type: 'object',
        required: ['kind', 'r'],
        properties: { kind: { const: 'circle' }, r: { type: 'number' } },
      },
      {
        type: 'object',
        required: ['kind', 'a'],
        properties: {
          kind: { const: 'square' },
          a: { type: 'object', properties: { w: { type: 'number' } } },
        },
      },
      { type: 'integer' },
      { type: 'number', minimum: 5 },
    ],
  };

  it('of exclusive branches also report one branch, never one that a constant rules out', () => {
    expect(errorsOf(shapes, { kind: 'circle', r: 'x', a: { w: 'y' } })).toMatchObject([
      { loc: ['body', 'v', 'r'], type: 'float_type' },
    ]);
    expect(errorsOf(shapes, { kind: 'square', a: { w: 'y' } })).toMatchObject([
      { loc: ['body', 'v', 'a', 'w'], type: 'float_type' },
    ]);
    expect(errorsOf(shapes, 3.5)).toHaveLength(1);
  });

  it('of exclusive branches report if more than one branch matches', () => {
    expect(errorsOf(shapes, 3)).toEqual([]);
    expect(errorsOf(shapes, 7)).toEqual([
      {
        loc: ['body', 'v'],
        type: 'value_error',
        msg: 'Value error, the value matches more than one of the mutually exclusive forms',
        ctx: { error: 'the value matches more than one of the mutually exclusive forms' },
        input: 7,
      },
    ]);
  });

  const tagged: JsonSchema = {
    type: 'object',
    discriminator: { propertyName: 'kind' },
    required: ['kind'],
    oneOf: [
      { properties: { kind: { const: 'image' }, url: { type: 'string' } }, required: ['url'] },
      { properties: { kind: { enum: ['text', 'prose'] }, words: { type: 'string' } } },
    ],
  };

  it('with a tag report the tagged branch', () => {
    expect(errorsOf(tagged, { kind: 'image', url: 5 })).toMatchObject([
      { loc: ['body', 'v', 'url'], type: 'string_type' },
    ]);
    expect(errorsOf(tagged, { kind: 'prose', words: 'a' })).toEqual([]);
  });

  it('with a tag report if it is unknown or not a string', () => {
    expect(errorsOf(tagged, { kind: 'sound' })).toEqual([
      {
        loc: ['body', 'v'],
        type: 'union_tag_invalid',
        msg: "Input tag 'sound' found using 'kind' does not match any of the expected tags: 'image', 'text', 'prose'",
        ctx: { discriminator: "'kind'", tag: 'sound', expected_tags: "'image', 'text', 'prose'" },
        input: { kind: 'sound' },
      },
    ]);
    expect(errorsOf(tagged, { kind: 7 })).toMatchObject([
      { type: 'union_tag_not_found', ctx: { discriminator: "'kind'" } },
    ]);
  });
});
