import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { InputRejection } from '#errors';
import { routerValidationErrorResponse } from '#schemas';
import { checkInput, compileSchema, inputErrors } from './check-input.js';
import type { JsonSchema } from './json-schema.js';
import { modelOfRow } from './testing/model-of-row.js';
import { parsedInput } from './testing/parsed-input.js';

const modelWith = (input?: object) =>
  modelOfRow({
    id: 'a/b',
    upstream: { path: 'b' },
    charges_on_policy_rejection: 'no',
    price: { usd: 0.01 },
    ...(input === undefined ? {} : { input }),
  });

/** A model whose input has one field, `v`. */
const modelOf = (v: JsonSchema) => modelWith({ type: 'object', properties: { v } });
const errorsOf = (v: JsonSchema, value: unknown) => inputErrors(modelOf(v), { v: value });

/** An object with this many fields of nearly a kilobyte, and names of this many letters. */
const heavy = (fields: number, letters: number) =>
  Object.fromEntries(
    Array.from({ length: fields }, (_, index) => [`${index}${'k'.repeat(letters)}`, 'x'.repeat(900)]),
  );

describe('checkInput', () => {
  it('reports every invalid field once, and the range before the step', () => {
    const model = modelWith({
      type: 'object',
      required: ['prompt'],
      additionalProperties: false,
      properties: {
        prompt: { type: 'string' },
        width: { type: 'integer', multipleOf: 32, minimum: 256 },
        tags: { type: 'array', items: { type: 'object', required: ['0'], properties: { '0': {} } } },
      },
    });
    const body = { width: 100, tags: [{}, { '0': 1 }, 5], hook: true };
    const fields = inputErrors(model, body).map(({ loc, type }) => `${loc.join('.')} ${type}`);
    expect(fields.sort()).toEqual([
      'body.hook extra_forbidden',
      'body.prompt missing',
      'body.tags.0.0 missing',
      'body.tags.2 dict_type',
      'body.width greater_than_equal',
    ]);
    expect(inputErrors(model, body).find(({ loc }) => loc.length === 4)?.loc).toEqual([
      'body',
      'tags',
      0,
      '0',
    ]);
  });

  it('throws a rejection in the wire format, and nothing for a valid input', () => {
    const model = modelOf({ type: 'string' });
    expect(() => checkInput([model], parsedInput({ v: 'a' }))).not.toThrow();
    let thrown: unknown;
    try {
      checkInput([model], parsedInput({ v: 1 }));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(InputRejection);
    const { fields, status, bucket } = thrown as InputRejection;
    expect([status, bucket]).toEqual([422, 'invalid_input']);
    expect(routerValidationErrorResponse.parse({ detail: fields })).toEqual({ detail: fields });
  });

  it.each(['^(a|a)*$', '^(a+)+$', '^(a?){40}$'])('checks %s without trying every way to match', (pattern) => {
    // A backtracking engine would not finish.
    expect(inputErrors(modelOf({ type: 'string', pattern }), { v: `${'a'.repeat(10_000)}!` })).toHaveLength(
      1,
    );
  });

  it('changes nothing in the body: no default, no coercion, no removal', () => {
    const model = modelWith({
      type: 'object',
      properties: { seed: { type: 'integer', default: 7 }, n: { type: 'integer' } },
    });
    const body = Object.freeze({ n: 1.0, other: 'kept' });
    expect(inputErrors(model, body)).toEqual([]);
    expect(body).toEqual({ n: 1, other: 'kept' });
  });

  it('accepts any object for a model without a schema', () => {
    const model = modelWith();
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (body) => {
        checkInput([model], parsedInput(body));
      }),
    );
    expect(inputErrors(model, [])).toMatchObject([{ loc: ['body'], type: 'dict_type' }]);
  });

  it('distinguishes field names from indexes and decodes pointer escapes', () => {
    const model = modelWith({
      type: 'object',
      properties: { 'a/b~c': { type: 'object', properties: { '0': { type: 'string' } } } },
    });
    expect(inputErrors(model, { 'a/b~c': { '0': 1 } })[0]?.loc).toEqual(['body', 'a/b~c', '0']);
  });

  it('shortens long strings and does not echo large objects', () => {
    const long = 'x'.repeat(5000);
    const [text] = errorsOf({ type: 'integer' }, long);
    expect(text?.input).toBe(`${'x'.repeat(1024)}…`);
    const model = modelWith({ type: 'object', required: ['prompt'], properties: { prompt: {} } });
    expect(inputErrors(model, { image: long })).toEqual([
      { loc: ['body', 'prompt'], msg: 'Field required', type: 'missing' },
    ]);
  });

  it.each(['1e400', '-9007199254740993', '[0.5,{"a":-1e400}]'])(
    'does not echo %s, which would become another number',
    (text) => {
      const [error] = errorsOf({ type: 'string' }, JSON.parse(text));
      expect(error).toEqual({ loc: ['body', 'v'], msg: expect.any(String), type: 'string_type' });
    },
  );

  it.each([9_007_199_254_740_991, 1e-300, [0.1, { a: null }]])('echoes %j', (value) => {
    expect(errorsOf({ type: 'string' }, value)[0]?.input).toEqual(value);
  });

  const manyNumbers = Array.from({ length: 100_000 }, () => 1);

  it('reports a hundred fields of a very invalid input, and collects no more errors than that', () => {
    const list: JsonSchema = { type: 'array', items: { type: 'string' } };
    expect(errorsOf(list, manyNumbers)).toHaveLength(100);
    expect(compileSchema(list).errorsOf(manyNumbers)).toHaveLength(100);
    const inBranches: JsonSchema = { anyOf: [list, { type: 'array', items: { type: 'boolean' } }] };
    expect(compileSchema(inBranches).errorsOf(manyNumbers)).toHaveLength(201);
    expect(errorsOf(inBranches, manyNumbers)).toHaveLength(100);
  });

  it('accepts a long list whose first elements match only the second branch of a union', () => {
    const list: JsonSchema = {
      anyOf: [
        { type: 'array', items: { type: 'string' } },
        { type: 'array', items: { type: 'integer' } },
      ],
    };
    expect(errorsOf(list, manyNumbers)).toEqual([]);
    const model = modelWith({
      type: 'object',
      properties: { v: list, prompt: { type: 'string' } },
    });
    expect(inputErrors(model, { v: manyNumbers, prompt: 1 }).map(({ loc }) => loc)).toEqual([
      ['body', 'prompt'],
    ]);
  });

  it('reports a hundred out of thousands of extra fields', () => {
    const body = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`k${index}`, 1]));
    expect(inputErrors(modelWith({ type: 'object', additionalProperties: false }), body)).toHaveLength(100);
  });

  it('limits the response to 256 KiB, and always reports at least one field', () => {
    const closed = modelWith({ type: 'object', additionalProperties: false });
    const lengthOf = (body: unknown) => JSON.stringify(inputErrors(closed, body)).length;
    expect(lengthOf(heavy(200, 0))).toBeGreaterThan(90_000);
    expect(lengthOf(heavy(2_000, 3_000))).toBeLessThan(257 * 1024);
    const [field, ...others] = inputErrors(closed, { ['k'.repeat(1_000_000)]: 1 });
    expect([field?.loc, others]).toEqual([['body', `${'k'.repeat(1024)}…`], []]);
  });

  it('accepts a data URI of several megabytes as a URI', () => {
    const image = `data:image/png;base64,${'A'.repeat(8_000_000)}`;
    expect(errorsOf({ type: 'string', format: 'uri' }, image)).toEqual([]);
  });

  it('reports exactly the fields whose value is outside its bounds', () => {
    const bounds = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.nat(50));
    fc.assert(
      fc.property(
        fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), bounds, { minKeys: 1, maxKeys: 8 }),
        fc.array(fc.integer({ min: -120, max: 120 }), { minLength: 8, maxLength: 8 }),
        (fields, values) => {
          const properties = Object.fromEntries(
            Object.entries(fields).map(([name, [minimum, width]]) => [
              name,
              { type: 'integer', minimum, maximum: minimum + width },
            ]),
          );
          const body = Object.fromEntries(
            Object.keys(fields).map((name, index) => [name, values[index] ?? 0]),
          );
          const expected = Object.entries(fields).flatMap(([name, [minimum, width]]) => {
            const value = body[name] ?? 0;
            if (value < minimum) return [`${name} greater_than_equal`];
            return value > minimum + width ? [`${name} less_than_equal`] : [];
          });
          const found = inputErrors(modelWith({ type: 'object', properties }), body);
          expect(found.map(({ loc, type }) => `${loc[1]} ${type}`).sort()).toEqual(expected.sort());
        },
      ),
      { numRuns: 40 },
    );
  });
});
