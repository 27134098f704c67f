import { describe, expect, it } from '@jest/globals';
import { pointerFrom } from '#schemas';
import { intake } from './intake.js';

function given(value: unknown, documents?: Record<string, unknown>) {
  const { schema, problems } = intake(value, documents && ((file) => documents[file]));
  return {
    schema,
    problems: problems.map(({ path, message }) => ({ pointer: pointerFrom(path), reason: message })),
  };
}

const text = { type: 'string' };
const nothing = { type: 'null' };

const tagged = (kind: string) => ({
  type: 'object',
  required: ['kind'],
  properties: { kind: { type: 'string', const: kind } },
});

describe('the normalized dialects', () => {
  it.each([
    ['nullable beside a type', { type: 'string', nullable: true }, { anyOf: [text, nothing] }],
    ['nullable: false', { type: 'string', nullable: false }, text],
    [
      'nullable beside an enum without null',
      { type: 'string', enum: ['a'], nullable: true },
      { anyOf: [{ type: 'string', enum: ['a'] }, nothing] },
    ],
    [
      'nullable beside an enum with null',
      { type: 'string', enum: ['a', null], nullable: true },
      { anyOf: [{ type: 'string', enum: ['a'] }, nothing] },
    ],
    [
      'nullable beside anyOf, without a type',
      { anyOf: [text, { type: 'integer' }], nullable: true, description: 'words' },
      { anyOf: [text, { type: 'integer' }, nothing], description: 'words' },
    ],
    [
      'nullable beside a reference in allOf',
      { allOf: [{ $ref: '#/definitions/T' }], nullable: true, definitions: { T: text } },
      { anyOf: [text, nothing] },
    ],
    [
      'a nullable union that already allows null',
      { anyOf: [text, nothing], nullable: true },
      { anyOf: [text, nothing] },
    ],
    [
      'a list of types',
      { type: ['string', 'null'], maxLength: 3 },
      { anyOf: [{ type: 'string', maxLength: 3 }, nothing] },
    ],
    [
      'a list of types, each with its own keywords and values',
      { type: ['string', 'integer', 'number'], maxLength: 3, minimum: 1, enum: ['a', 2] },
      {
        anyOf: [
          { type: 'string', maxLength: 3, enum: ['a'] },
          { type: 'number', minimum: 1, enum: [2] },
        ],
      },
    ],
    [
      'a list of types beside a union',
      { type: ['string', 'null'], anyOf: [{ const: 'a' }, { const: null }] },
      { allOf: [{ anyOf: [text, nothing] }, { anyOf: [{ const: 'a' }, { const: null }] }] },
    ],
    ['a list of one type', { type: ['string'] }, text],
    [
      'a bound that a flag makes exclusive',
      { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
      { type: 'number', exclusiveMinimum: 0, maximum: 9 },
    ],
    [
      'a numeric exclusive bound',
      { type: 'number', exclusiveMaximum: 9 },
      { type: 'number', exclusiveMaximum: 9 },
    ],
    ['an example', { type: 'string', example: 'a cat' }, { type: 'string', examples: ['a cat'] }],
    [
      'a reference with words beside it',
      {
        $ref: '#/$defs/T',
        description: 'here',
        default: 'a',
        $defs: { T: { ...text, description: 'there' } },
      },
      { type: 'string', description: 'here', default: 'a' },
    ],
    [
      'a reference with a bound beside it',
      { $ref: '#/$defs/T', maxLength: 3, $defs: { T: text } },
      { allOf: [text, { maxLength: 3 }] },
    ],
    [
      'a reference through an escaped name',
      { $ref: '#/components/schemas/a~1b%20c', components: { schemas: { 'a/b c': text } } },
      text,
    ],
    [
      'an allOf of one',
      { allOf: [{ type: 'integer', minimum: 1 }], title: 'N' },
      { type: 'integer', minimum: 1, title: 'N' },
    ],
    [
      'annotations of OpenAPI',
      { type: 'string', xml: {}, readOnly: true, 'x-order': 1, externalDocs: {} },
      text,
    ],
    [
      'schemas that are booleans',
      { type: 'object', properties: { a: true, b: false } },
      { type: 'object', properties: { a: {}, b: { not: {} } } },
    ],
    [
      'a name that objects inherit',
      { type: 'object', properties: { constructor: text } },
      { type: 'object', properties: { constructor: text } },
    ],
    [
      'a format that only describes',
      { type: 'integer', format: 'uint32' },
      { type: 'integer', format: 'uint32' },
    ],
    ['an empty list of required names', { type: 'object', required: [] }, { type: 'object' }],
  ])('%s', (_, schema, form) => expect(given(schema)).toEqual({ schema: form, problems: [] }));

  it('a discriminator that tells the branches apart is kept without its mapping', () => {
    const discriminator = { propertyName: 'kind', mapping: { a: '#/$defs/A' } };
    expect(given({ oneOf: [tagged('a'), tagged('b')], discriminator }).schema).toEqual({
      type: 'object',
      oneOf: [tagged('a'), tagged('b')],
      discriminator: { propertyName: 'kind' },
    });
  });

  it('a provider’s discriminator that depends on a mapping is dropped', () => {
    const branch = { type: 'object', properties: { kind: text } };
    const union = { oneOf: [branch, tagged('b')], discriminator: { propertyName: 'kind', mapping: {} } };
    expect(given({ $ref: 'provider.json#/A' }, { 'provider.json': { A: union } })).toEqual({
      schema: { oneOf: [branch, tagged('b')] },
      problems: [],
    });
    expect(given(union).problems).toMatchObject([{ pointer: '/discriminator' }]);
  });
});

describe('a provider’s document', () => {
  const documents = {
    'provider.json': {
      components: {
        schemas: {
          Input: { type: 'object', properties: { size: { $ref: '#/components/schemas/Size' } } },
          Size: { type: 'integer', ge: 1, minLength: 3, _order: 2 },
          Bad: { type: 'object', properties: { size: { $ref: '#/components/schemas/Nowhere' } } },
        },
      },
    },
  };

  it('may have unknown and ineffective keywords, which are dropped', () => {
    expect(given({ $ref: 'provider.json#/components/schemas/Input' }, documents)).toEqual({
      schema: { type: 'object', properties: { size: { type: 'integer' } } },
      problems: [],
    });
  });

  it('has its problems reported where the row refers to it', () => {
    const row = { type: 'object', properties: { a: { $ref: 'provider.json#/components/schemas/Bad' } } };
    expect(given(row, documents).problems).toEqual([
      {
        pointer: '/properties/a/$ref',
        reason:
          'provider.json#/components/schemas/Bad/properties/size/$ref: #/components/schemas/Nowhere does not exist',
      },
    ]);
  });

  it('must exist', () => {
    expect(given({ $ref: 'provider.json#/A' }).problems).toEqual([
      { pointer: '/$ref', reason: 'this schema cannot refer to documents' },
    ]);
  });
});

describe('rejected schemas', () => {
  it.each([
    ['an unknown keyword', { type: 'string', maxlength: 3 }, '/maxlength', 'is not a keyword'],
    ['an ineffective keyword', { type: 'string', minimum: 1 }, '/minimum', 'does not apply to string'],
    [
      'an unsupported keyword',
      { type: 'object', patternProperties: {} },
      '/patternProperties',
      'not supported',
    ],
    ['a tuple', { type: 'array', items: [{}] }, '/items', 'expected a schema'],
    ['a type of another language', { type: 'file' }, '/type', '"file" is not a type'],
    ['values of another type only', { type: 'string', enum: [true, false] }, '', 'no value'],
    [
      'required as a flag',
      { type: 'object', required: true },
      '/required',
      'expected array, received boolean',
    ],
    ['a bound that is a text', { type: 'number', minimum: '1' }, '/minimum', 'expected number'],
    ['a negative length', { type: 'string', minLength: -1 }, '/minLength', '>=0'],
    ['a step of zero', { type: 'number', multipleOf: 0 }, '/multipleOf', '>0'],
    ['no values', { enum: [] }, '/enum', '>=1 items'],
    ['no branches', { anyOf: [] }, '/anyOf', 'list of schemas'],
    ['a schema that is a text', { properties: { a: 'string' } }, '/properties/a', 'expected a schema'],
    ['look-ahead', { type: 'string', pattern: '(?=a)' }, '/pattern', 'linear-time'],
    ['a back reference', { type: 'string', pattern: '(a)\\1' }, '/pattern', 'linear-time'],
    ['a pattern with a large repetition', { type: 'string', pattern: '^(x?){500}$' }, '/pattern', 'steps'],
    ['a long pattern', { type: 'string', pattern: 'a'.repeat(1001) }, '/pattern', '1000 characters'],
    ['comparing long lists of objects', { type: 'array', uniqueItems: true }, '/uniqueItems', 'maxItems'],
    ['a reference to nowhere', { $ref: '#/$defs/T' }, '/$ref', 'does not exist'],
    ['a reference to an anchor', { $ref: '#T' }, '/$ref', 'not a JSON pointer'],
    ['a reference to itself', { properties: { a: { $ref: '#' } } }, '/properties/a/$ref', 'is circular'],
    [
      'a circle of references',
      {
        $ref: '#/$defs/A',
        $defs: { A: { items: { $ref: '#/$defs/B' } }, B: { items: { $ref: '#/$defs/A' } } },
      },
      '/$defs/B/items/$ref',
      'is circular',
    ],
  ])('%s', (_, schema, pointer, reason) =>
    expect(given(schema).problems).toEqual([{ pointer, reason: expect.stringContaining(reason) }]),
  );

  const nested = (levels: number, inner: object): object =>
    levels === 0 ? inner : { anyOf: [nested(levels - 1, inner), { type: 'null' }] };

  /** Each level refers to the next one twice. */
  const doubling = {
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      Array.from({ length: 20 }, (_, level) => [
        `d${level}`,
        level === 19
          ? text
          : {
              type: 'object',
              properties: { a: { $ref: `#/$defs/d${level + 1}` }, b: { $ref: `#/$defs/d${level + 1}` } },
            },
      ]),
    ),
  };

  it.each([
    ['a deep nest', nested(200, text), 'deeper than 40'],
    ['a wide nest', { anyOf: Array.from({ length: 20 }, () => nested(20, text)) }, '400 branches'],
    [
      'half a megabyte of anyOf',
      {
        anyOf: Array.from({ length: 9000 }, (_, index) => ({
          type: 'string',
          const: `a value ${index} of thousands`,
        })),
      },
      '400 branches',
    ],
    [
      'thousands of properties',
      { properties: Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`p${index}`, text])) },
      '2000 schemas',
    ],
    ['references that double at each level', doubling, '2000 schemas'],
  ])('%s', (_, schema, reason) => {
    // Expanded, the worst of them would have a billion schemas.
    expect(given(schema).problems).toEqual([{ pointer: '', reason: expect.stringContaining(reason) }]);
  });
});
