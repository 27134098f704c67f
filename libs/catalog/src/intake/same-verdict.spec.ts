import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import * as fc from 'fast-check';
import { compileSchema } from '../check-input.js';
import { intake } from './intake.js';

/** Plain Ajv on the original schema. It supports `nullable` itself. */
const reference = new Ajv2020({
  strict: false,
  strictNumbers: true,
  ownProperties: true,
  multipleOfPrecision: 9,
  logger: false,
});
for (const each of ['uri', 'uuid', 'date-time'] as const) {
  reference.addFormat(each, formats.default.get(each, 'fast'));
}

type Verdict = (value: unknown) => boolean;

function theirs(schema: object): Verdict | undefined {
  try {
    const validate = reference.compile(schema);
    return (value) => validate(value);
  } catch {
    return undefined;
  }
}

function ours(schema: object): Verdict | undefined {
  const { schema: form, problems } = intake({ $ref: 'given.json#' }, () => schema);
  if (problems.length > 0) return undefined;
  return compileSchema(form).accepts;
}

const name = fc.constantFrom('a', 'b', 'kind', 'constructor', '__proto__');
const plain = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    1,
    2,
    3,
    -1,
    1.5,
    1e300,
    '',
    'a',
    'b',
    'ab',
    'abc',
    'aaaa',
    'x y',
  ),
  fc.constantFrom<unknown>(
    'https://a.example/b',
    'data:,x',
    '2026-01-01T00:00:00Z',
    '😀',
    '😀😀',
    'line\nbreak',
  ),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { arbitrary: plain, weight: 4 },
    { arbitrary: fc.array(tie('value'), { maxLength: 4 }), weight: 2 },
    { arbitrary: fc.dictionary(name, tie('value'), { maxKeys: 4 }), weight: 3 },
  ),
}));

const typeName = fc.constantFrom('object', 'array', 'string', 'integer', 'number', 'boolean', 'null');
const pattern = fc.constantFrom(
  '^a',
  'b$',
  '^[a-c]+$',
  '^(a|a)*$',
  '^https:\\/\\/.*',
  '^a{2,4}$',
  '\\d',
  '^.$',
  'a|.*',
  '',
);
const small = fc.integer({ min: 0, max: 4 });
const bound = fc.constantFrom(-1, 0, 1, 1.5, 2, 3);

const { schema } = fc.letrec<{ schema: object | boolean; branch: object | boolean }>((tie) => ({
  branch: fc.oneof({ maxDepth: 3 }, fc.boolean(), tie('schema')),
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.record({ type: typeName }),
    fc.record(
      { $ref: fc.constantFrom('#/$defs/one', '#/$defs/two'), maxLength: small },
      { requiredKeys: ['$ref'] },
    ),
    fc.record(
      {
        type: fc.oneof(
          { arbitrary: typeName, weight: 3 },
          { arbitrary: fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 }), weight: 1 },
        ),
        nullable: fc.boolean(),
        properties: fc.dictionary(name, tie('branch'), { maxKeys: 3 }),
        required: fc.uniqueArray(name, { maxLength: 2 }),
        additionalProperties: tie('branch'),
        minProperties: small,
        maxProperties: small,
        items: tie('branch'),
        minItems: small,
        maxItems: small,
        uniqueItems: fc.boolean(),
        minimum: bound,
        maximum: bound,
        exclusiveMinimum: bound,
        exclusiveMaximum: bound,
        multipleOf: fc.constantFrom(0.1, 0.5, 1, 2),
        minLength: small,
        maxLength: small,
        pattern,
        format: fc.constantFrom('uri', 'uuid', 'date-time', 'int32', 'binary', 'google-duration'),
        enum: fc.uniqueArray(plain, { minLength: 1, maxLength: 4 }),
        const: plain,
        allOf: fc.array(tie('branch'), { minLength: 1, maxLength: 2 }),
        anyOf: fc.array(tie('branch'), { minLength: 1, maxLength: 3 }),
        oneOf: fc.array(tie('branch'), { minLength: 1, maxLength: 3 }),
        not: tie('branch'),
        title: fc.constant('words'),
        example: plain,
        'x-order': fc.constant(1),
      },
      { requiredKeys: [] },
    ),
  ),
}));

/**
 * `nullable` with an `enum` without null is the only case in which Ajv and the authors of such schemas disagree.
 */
function disputed(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const { nullable, ...others } = part as Record<string, unknown>;
  const narrowed = ['enum', 'const', 'allOf', 'anyOf', 'oneOf', 'not'].some((keyword) => keyword in others);
  return (nullable === true && narrowed) || Object.values(part).some(disputed);
}

/** A tagged union as providers write it, with nearly valid objects. */
const tag = fc.constantFrom('a', 'b', 'c', 1);
const taggedBranch = fc.record(
  {
    type: fc.constant('object'),
    required: fc.constantFrom(['kind'], ['kind', 'a'], ['a']),
    properties: fc.record(
      { kind: fc.record({ const: tag }), a: fc.record({ type: typeName }) },
      { requiredKeys: ['kind'] },
    ),
  },
  { requiredKeys: ['properties', 'required'] },
);
const taggedUnion = fc.record(
  {
    type: fc.constantFrom('object', 'string'),
    oneOf: fc.array(taggedBranch, { minLength: 1, maxLength: 3 }),
    discriminator: fc.record(
      { propertyName: fc.constant('kind'), mapping: fc.constant({ a: '#/x' }) },
      { requiredKeys: ['propertyName'] },
    ),
  },
  { requiredKeys: ['oneOf', 'discriminator'] },
);

function compare(of: fc.Arbitrary<object>, input: fc.Arbitrary<unknown>, runs: number): { compared: number } {
  let compared = 0;
  fc.assert(
    fc.property(of, fc.array(input, { minLength: 12, maxLength: 12 }), (given, inputs) => {
      const [their, our] = [theirs(given), ours(given)];
      if (their === undefined || our === undefined) return;
      compared += 1;
      for (const each of inputs) expect([each, our(each)]).toEqual([each, their(each)]);
    }),
    { numRuns: runs },
  );
  return { compared };
}

describe('the result for an input', () => {
  it('is the same as Ajv’s on the original schema, for any schema that both accept', () => {
    const root = fc
      .tuple(schema, schema, schema)
      .filter((parts) => !parts.some(disputed))
      .map(([whole, one, two]) => ({ ...(whole as object), $defs: { one, two } }));
    expect(compare(root, value, 250).compared).toBeGreaterThan(80);
  });

  it('is the same as Ajv’s on tagged unions, whether or not the tag tells the branches apart', () => {
    const nearly = fc.record({ kind: fc.oneof(tag, value), a: plain }, { requiredKeys: [] });
    expect(compare(taggedUnion, fc.oneof(nearly, value), 150).compared).toBeGreaterThan(70);
  });
});
