import type { Json } from '#schemas';
import type { JsonSchema } from '../json-schema.js';
import { isObject } from './is-object.js';
import { patternProblem } from './pattern.js';
import { child, type Place, type Walk } from './walk.js';

/** Reads a subschema; handed in, because schemas and their keywords contain each other. */
type ReadSchema = (value: unknown, place: Place) => JsonSchema;

/** Everything a keyword's reader may use; `refuse` notes a problem at the keyword. */
export interface Reading {
  place: Place;
  walk: Walk;
  schema: ReadSchema;
  refuse: (reason: string) => undefined;
}

type Reader<T> = (value: unknown, reading: Reading) => T | undefined;

const finite: Reader<number> = (value, { refuse }) =>
  typeof value === 'number' && Number.isFinite(value) ? value : refuse('expected a number');

const count: Reader<number> = (value, { refuse }) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0
    ? value
    : refuse('expected a whole number, at least 0');

const flag: Reader<boolean> = (value, { refuse }) =>
  typeof value === 'boolean' ? value : refuse('expected true or false');

const text: Reader<string> = (value, { refuse }) =>
  typeof value === 'string' ? value : refuse('expected a text');

const anything: Reader<Json> = (value) => value as Json;

const values: Reader<Json[]> = (value, { refuse }) =>
  Array.isArray(value) && value.length > 0 ? (value as Json[]) : refuse('expected a list of values');

const one: Reader<JsonSchema> = (value, { schema, place }) => schema(value, place);

const branches: Reader<JsonSchema[]> = (value, { schema, place, refuse }) =>
  Array.isArray(value) && value.length > 0
    ? value.map((branch, index) => schema(branch, child(place, index)))
    : refuse('expected a list of schemas');

const named: Reader<Record<string, JsonSchema>> = (value, { schema, place, refuse }) =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, property]) => [name, schema(property, child(place, name))]),
      )
    : refuse('expected an object of schemas');

const names: Reader<string[]> = (value, { refuse }) => {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) {
    return refuse('expected a list of names');
  }
  // An empty list asks for nothing.
  return value.length === 0 ? undefined : [...new Set(value)];
};

const pattern: Reader<string> = (value, { refuse }) => {
  if (typeof value !== 'string') return refuse('expected a text');
  const problem = patternProblem(value);
  return problem === undefined ? value : refuse(problem);
};

const step: Reader<number> = (value, { refuse }) =>
  typeof value === 'number' && Number.isFinite(value) && value > 0
    ? value
    : refuse('expected a number above 0');

const tag: Reader<{ propertyName: string }> = (value, { refuse }) =>
  isObject(value) && typeof value['propertyName'] === 'string' && value['propertyName'] !== ''
    ? { propertyName: value['propertyName'] }
    : refuse('expected propertyName');

/** How each keyword of the one form is read. What it refuses is left out of the result. */
export const readers: {
  [K in Exclude<keyof JsonSchema, 'type'>]-?: Reader<Exclude<JsonSchema[K], undefined>>;
} = {
  title: text,
  description: text,
  default: anything,
  examples: values,
  deprecated: flag,
  format: text,
  properties: named,
  required: names,
  additionalProperties: (value, reading) => (typeof value === 'boolean' ? value : one(value, reading)),
  minProperties: count,
  maxProperties: count,
  items: one,
  minItems: count,
  maxItems: count,
  uniqueItems: flag,
  enum: values,
  const: anything,
  minimum: finite,
  maximum: finite,
  exclusiveMinimum: finite,
  exclusiveMaximum: finite,
  multipleOf: step,
  minLength: count,
  maxLength: count,
  pattern,
  allOf: branches,
  anyOf: branches,
  oneOf: branches,
  not: one,
  discriminator: tag,
};
