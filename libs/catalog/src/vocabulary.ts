import { shortened } from '#schemas';
import type { FieldError } from '#errors';
import type { ErrorObject } from 'ajv';
import type { JsonSchema } from './json-schema.js';

/** The type, message and context of one error. */
type Wording = Pick<FieldError, 'type' | 'msg' | 'ctx'>;

type Word = (error: ErrorObject) => Wording;

const maxTextLength = 1024;

/** The caller's text, shortened for an error message. */
export const echoed = (text: string): string => shortened(text, maxTextLength);

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const quoted = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value));

function alternatives(values: readonly unknown[]): string {
  const texts = values.map(quoted);
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}`;
}

const typeWords: Record<NonNullable<JsonSchema['type']>, Wording> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  integer: { type: 'int_type', msg: 'Input should be a valid integer' },
  number: { type: 'float_type', msg: 'Input should be a valid number' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  object: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  null: { type: 'none_required', msg: 'Input should be None' },
};

function wrongType({ params, data }: ErrorObject): Wording {
  const wanted = params['type'] as keyof typeof typeWords;
  if ((wanted === 'integer' || wanted === 'number') && typeof data === 'number') {
    // JSON numbers beyond the range of a double are parsed as infinity.
    if (!Number.isFinite(data)) return { type: 'finite_number', msg: 'Input should be a finite number' };
    return {
      type: 'int_from_float',
      msg: 'Input should be a valid integer, got a number with a fractional part',
    };
  }
  return typeWords[wanted];
}

const bounded =
  (type: string, key: string, words: string, noun?: string): Word =>
  ({ params }) => {
    const limit = params['limit'] as number;
    return {
      type,
      msg: `${words} ${noun === undefined ? limit : plural(limit, noun)}`,
      ctx: { [key]: limit },
    };
  };

const size =
  (kind: 'List' | 'Dictionary', type: string, words: string, key: string): Word =>
  ({ params, data }) => {
    const limit = params['limit'] as number;
    const actual = Array.isArray(data) ? data.length : Object.keys(data as object).length;
    return {
      type,
      msg: `${kind} should have ${words} ${plural(limit, 'item')} after validation, not ${actual}`,
      ctx: { field_type: kind, [key]: limit, actual_length: actual },
    };
  };

/** A field whose name is not allowed. */
export const forbidden: Wording = { type: 'extra_forbidden', msg: 'Extra inputs are not permitted' };

const expected = (type: string, values: string): Wording => ({
  type,
  msg: `Input should be ${values}`,
  ctx: { expected: values },
});

const valueError = (error: string): Wording => ({
  type: 'value_error',
  msg: `Value error, ${error}`,
  ctx: { error },
});

/** A field that is given twice. A provider might use either value. */
export const repeated: Wording = valueError('the field is given more than once');

function wrongTag({ params, parentSchema }: ErrorObject): Wording {
  const name = params['tag'] as string;
  const discriminator = quoted(name);
  if (params['error'] === 'tag') {
    return {
      type: 'union_tag_not_found',
      msg: `Unable to extract tag using discriminator ${discriminator}`,
      ctx: { discriminator },
    };
  }
  const branches = (parentSchema as JsonSchema | undefined)?.oneOf ?? [];
  const tags = branches.flatMap(
    ({ properties }) => properties?.[name]?.enum ?? properties?.[name]?.const ?? [],
  );
  const expectedTags = tags.map(quoted).join(', ');
  const tag = echoed(String(params['tagValue']));
  return {
    type: 'union_tag_invalid',
    msg: `Input tag '${tag}' found using ${discriminator} does not match any of the expected tags: ${expectedTags}`,
    ctx: { discriminator, tag, expected_tags: expectedTags },
  };
}

/**
 * The error of every supported keyword, in the vocabulary of FastAPI's 422 bodies, which most providers and clients
 * already use. The order is the precedence if several keywords fail on one field.
 */
const words = {
  required: () => ({ type: 'missing', msg: 'Field required' }),
  additionalProperties: () => forbidden,
  discriminator: wrongTag,
  const: ({ params }) => expected('literal_error', quoted(params['allowedValue'])),
  enum: ({ params }) => expected('enum', alternatives(params['allowedValues'] as unknown[])),
  type: wrongType,
  minimum: bounded('greater_than_equal', 'ge', 'Input should be greater than or equal to'),
  exclusiveMinimum: bounded('greater_than', 'gt', 'Input should be greater than'),
  maximum: bounded('less_than_equal', 'le', 'Input should be less than or equal to'),
  exclusiveMaximum: bounded('less_than', 'lt', 'Input should be less than'),
  multipleOf: ({ params }) => {
    const step = params['multipleOf'] as number;
    return { type: 'multiple_of', msg: `Input should be a multiple of ${step}`, ctx: { multiple_of: step } };
  },
  minLength: bounded('string_too_short', 'min_length', 'String should have at least', 'character'),
  maxLength: bounded('string_too_long', 'max_length', 'String should have at most', 'character'),
  minItems: size('List', 'too_short', 'at least', 'min_length'),
  maxItems: size('List', 'too_long', 'at most', 'max_length'),
  minProperties: size('Dictionary', 'too_short', 'at least', 'min_length'),
  maxProperties: size('Dictionary', 'too_long', 'at most', 'max_length'),
  uniqueItems: () => valueError('the items are not unique'),
  pattern: ({ params }) => {
    const pattern = params['pattern'] as string;
    return {
      type: 'string_pattern_mismatch',
      msg: `String should match pattern '${pattern}'`,
      ctx: { pattern },
    };
  },
  oneOf: () => valueError('the value matches more than one of the mutually exclusive forms'),
  // A forbidden field, or one that the router rejects by its name unless its value has no effect.
  not: ({ schema }) =>
    (schema as JsonSchema).not || Object.keys(schema as JsonSchema).length === 0
      ? forbidden
      : valueError('the value has a form that is not allowed'),
} satisfies Record<string, Word>;

export const precedence: readonly string[] = Object.keys(words);

/** Every keyword that rows can use has an entry, except `anyOf`, whose errors are replaced earlier. */
export const worded = (error: ErrorObject): Wording => words[error.keyword as keyof typeof words](error);

/** The property that the error is about, if it is a property of the failing object and not the object itself. */
export const childOf = ({ params }: ErrorObject): string | undefined =>
  (params['missingProperty'] ?? params['additionalProperty']) as string | undefined;
