import type { Json } from '#schemas';
import type { JsonSchema, SchemaType } from '../json-schema.js';
import { patternProblem } from './pattern.js';

/** The tools of a keyword's reader. */
interface Reading {
  /** Reads a subschema at a path below the keyword; handed in, because schemas and their keywords contain each other. */
  schema: (value: unknown, ...path: (string | number)[]) => JsonSchema;
  /** Notes a problem at the keyword. */
  refuse: (reason: string) => undefined;
}

type Reader<T> = (value: unknown, reading: Reading) => T | undefined;

interface Keyword<T> {
  /** A refused value is left out of the result. */
  read: Reader<T>;
  /** The types that the keyword says something about; left out, every one. */
  about?: readonly SchemaType[];
  /** An annotation says nothing about whether a value is accepted. */
  isAnnotation?: true;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

const one =
  <T>(is: (value: unknown) => value is T, expected: string): Reader<T> =>
  (value, { refuse }) =>
    is(value) ? value : refuse(`expected ${expected}`);

const text = one((value) => typeof value === 'string', 'a text');
const flag = one((value) => typeof value === 'boolean', 'true or false');
const number = one(isNumber, 'a number');
const step = one((value): value is number => isNumber(value) && value > 0, 'a number above 0');
const count = one(
  (value): value is number => Number.isInteger(value) && (value as number) >= 0,
  'a whole number, at least 0',
);
const values = one((value): value is Json[] => Array.isArray(value) && value.length > 0, 'a list of values');
const anything: Reader<Json> = (value) => value as Json;

const schema: Reader<JsonSchema> = (value, reading) => reading.schema(value);

const schemas: Reader<JsonSchema[]> = (value, reading) =>
  Array.isArray(value) && value.length > 0
    ? value.map((branch, index) => reading.schema(branch, index))
    : reading.refuse('expected a list of schemas');

const schemasByName: Reader<Record<string, JsonSchema>> = (value, reading) =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, reading.schema(each, name)]))
    : reading.refuse('expected an object of schemas');

const names: Reader<string[]> = (value, { refuse }) => {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) {
    return refuse('expected a list of names');
  }
  // An empty list demands nothing.
  return value.length === 0 ? undefined : [...new Set(value)];
};

const pattern: Reader<string> = (value, reading) => {
  const given = text(value, reading);
  const problem = given === undefined ? undefined : patternProblem(given);
  return problem === undefined ? given : reading.refuse(problem);
};

const tag: Reader<{ propertyName: string }> = (value, { refuse }) =>
  isObject(value) && typeof value['propertyName'] === 'string' && value['propertyName'] !== ''
    ? { propertyName: value['propertyName'] }
    : refuse('expected propertyName');

const annotation = <T>(read: Reader<T>): Keyword<T> => ({ read, isAnnotation: true });
const ofObjects = <T>(read: Reader<T>): Keyword<T> => ({ read, about: ['object'] });
const ofLists = <T>(read: Reader<T>): Keyword<T> => ({ read, about: ['array'] });
const ofNumbers = <T>(read: Reader<T>): Keyword<T> => ({ read, about: ['integer', 'number'] });
const ofTexts = <T>(read: Reader<T>): Keyword<T> => ({ read, about: ['string'] });

/** The keywords of the one form, `type` excepted. */
export const keywords: {
  [K in Exclude<keyof JsonSchema, 'type' | 'patternProperties'>]-?: Keyword<
    Exclude<JsonSchema[K], undefined>
  >;
} = {
  title: annotation(text),
  description: annotation(text),
  default: annotation(anything),
  examples: annotation(values),
  deprecated: annotation(flag),
  format: annotation(text),
  properties: ofObjects(schemasByName),
  required: ofObjects(names),
  additionalProperties: ofObjects((value, reading) =>
    typeof value === 'boolean' ? value : schema(value, reading),
  ),
  minProperties: ofObjects(count),
  maxProperties: ofObjects(count),
  items: ofLists(schema),
  minItems: ofLists(count),
  maxItems: ofLists(count),
  uniqueItems: ofLists(flag),
  minimum: ofNumbers(number),
  maximum: ofNumbers(number),
  exclusiveMinimum: ofNumbers(number),
  exclusiveMaximum: ofNumbers(number),
  multipleOf: ofNumbers(step),
  minLength: ofTexts(count),
  maxLength: ofTexts(count),
  pattern: ofTexts(pattern),
  enum: { read: values },
  const: { read: anything },
  allOf: { read: schemas },
  anyOf: { read: schemas },
  oneOf: { read: schemas },
  not: { read: schema },
  discriminator: { read: tag },
};

export const isKeyword = (name: string): name is keyof typeof keywords => Object.hasOwn(keywords, name);

/** The types that a keyword says something about; undefined when it speaks about every one. */
export const typesOf = (name: string): readonly SchemaType[] | undefined =>
  isKeyword(name) ? keywords[name].about : undefined;

const wordsIn = (list: string) => new Set(list.trim().split(/\s+/));

/** Read elsewhere in the intake, or of no meaning to it: they hold schemas to refer to, or words for people. */
export const ignored = wordsIn(`
  $ref type nullable example $defs definitions components $schema $id id $comment xml externalDocs readOnly writeOnly
  contentEncoding contentMediaType
`);

/** They assert something that the one form cannot say; leaving them out would accept what they refuse. */
export const unsupported = wordsIn(`
  patternProperties propertyNames dependentRequired dependentSchemas dependencies unevaluatedProperties
  unevaluatedItems additionalItems prefixItems contains minContains maxContains if then else contentSchema
  $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor
`);
