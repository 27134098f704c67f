import { z } from 'zod';
import type { Json } from '#schemas';
import { type JsonSchema, type SchemaType, schemaTypes } from '../json-schema.js';
import { patternProblem } from './pattern.js';

interface Keyword<T> {
  /** The shape of the value, or where it contains schemas. */
  value: z.ZodType<T | undefined> | 'schema' | 'schemas' | 'schemasByName';
  /** The types that the keyword applies to. Without it, all types. */
  about?: readonly SchemaType[];
  /** Annotations do not affect whether a value is accepted. */
  isAnnotation?: true;
}

const text = z.string();
const count = z.int().min(0);
const anything = z.custom<Json>();
const values = z.array(anything).min(1);

/** An empty list has no effect. */
const names = z.array(text).transform((given) => (given.length === 0 ? undefined : [...new Set(given)]));

const pattern = text.superRefine((given, context) => {
  const problem = patternProblem(given);
  if (problem !== undefined) context.addIssue(problem);
});

const annotation = <T>(value: z.ZodType<T>): Keyword<T> => ({ value, isAnnotation: true });
const ofObjects = <T>(value: Keyword<T>['value']): Keyword<T> => ({ value, about: ['object'] });
const ofLists = <T>(value: Keyword<T>['value']): Keyword<T> => ({ value, about: ['array'] });
const ofNumbers = <T>(value: Keyword<T>['value']): Keyword<T> => ({ value, about: ['integer', 'number'] });
const ofTexts = <T>(value: Keyword<T>['value']): Keyword<T> => ({ value, about: ['string'] });

/** The keywords of the normalized form, except `type`. */
export const keywords: {
  [K in Exclude<keyof JsonSchema, 'type' | 'patternProperties'>]-?: Keyword<
    Exclude<JsonSchema[K], undefined>
  >;
} = {
  title: annotation(text),
  description: annotation(text),
  default: annotation(anything),
  examples: annotation(values),
  deprecated: annotation(z.boolean()),
  format: annotation(text),
  'x-service-known-values': annotation(values),
  properties: ofObjects('schemasByName'),
  required: ofObjects(names),
  additionalProperties: ofObjects('schema'),
  minProperties: ofObjects(count),
  maxProperties: ofObjects(count),
  items: ofLists('schema'),
  minItems: ofLists(count),
  maxItems: ofLists(count),
  uniqueItems: ofLists(z.boolean()),
  minimum: ofNumbers(z.number()),
  maximum: ofNumbers(z.number()),
  exclusiveMinimum: ofNumbers(z.number()),
  exclusiveMaximum: ofNumbers(z.number()),
  multipleOf: ofNumbers(z.number().positive()),
  minLength: ofTexts(count),
  maxLength: ofTexts(count),
  pattern: ofTexts(pattern),
  enum: { value: values },
  const: { value: anything },
  allOf: { value: 'schemas' },
  anyOf: { value: 'schemas' },
  oneOf: { value: 'schemas' },
  not: { value: 'schema' },
  discriminator: { value: z.object({ propertyName: text.min(1) }) },
};

export const isKeyword = (name: string): name is keyof typeof keywords => Object.hasOwn(keywords, name);

const wordsIn = (list: string) => new Set(list.trim().split(/\s+/));

/**
 * Keywords that the intake reads elsewhere, or ignores because they only contain referenced schemas or text for
 * people.
 */
export const ignored = wordsIn(`
  $ref type nullable example $defs definitions components $schema $id id $comment xml externalDocs readOnly writeOnly
  contentEncoding contentMediaType
`);

/** Keywords that the normalized form cannot express. Ignoring them would accept values that they reject. */
export const unsupported = wordsIn(`
  patternProperties propertyNames dependentRequired dependentSchemas dependencies unevaluatedProperties
  unevaluatedItems additionalItems prefixItems contains minContains maxContains if then else contentSchema
  $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor
`);

const typesOf = (name: string): readonly SchemaType[] | undefined =>
  isKeyword(name) ? keywords[name].about : undefined;

export const speaksAbout = (keyword: string, type: SchemaType): boolean =>
  typesOf(keyword)?.includes(type) ?? true;

const types = z.array(z.enum(schemaTypes)).min(1);

/** The types of a `type` keyword. Empty if it is absent, undefined if it is invalid. */
export function typesIn(value: unknown): SchemaType[] | undefined {
  if (value === undefined) return [];
  const listed = types.safeParse([value].flat()).data;
  // Every integer is a number.
  return listed && [...new Set(listed)].filter((type) => type !== 'integer' || !listed.includes('number'));
}

/**
 * The assertions restricted to the allowed types: one branch per type, each with the keywords that apply to it.
 * Undefined if they contradict the types, so that no value is valid.
 */
export function typed(assertions: JsonSchema, types: readonly SchemaType[]): JsonSchema | undefined {
  if (types.length === 0) return assertions;
  if (types.length > 1 && !Object.keys(assertions).every(isTyped)) {
    const union = typed(pick(assertions, isTyped), types);
    return union && { allOf: [union, pick(assertions, (keyword) => !isTyped(keyword))] };
  }
  const branches = types.flatMap((type) => ofOneType(assertions, type) ?? []);
  const [only] = branches;
  return branches.length > 1 ? { anyOf: branches } : only;
}

const isTyped = (keyword: string): boolean =>
  keyword === 'enum' || keyword === 'const' || typesOf(keyword) !== undefined;

function ofOneType(assertions: JsonSchema, type: SchemaType): JsonSchema | undefined {
  const { enum: listed, const: fixed, ...others } = assertions;
  const left = listed?.filter((value) => isOfType(value, type));
  if (left?.length === 0 || (fixed !== undefined && !isOfType(fixed, type))) return undefined;
  return {
    type,
    ...pick(others, (keyword) => speaksAbout(keyword, type)),
    ...(left !== undefined && { enum: left }),
    ...(fixed !== undefined && { const: fixed }),
  };
}

function isOfType(value: Json, type: SchemaType): boolean {
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

const pick = (schema: JsonSchema, wanted: (keyword: string) => boolean): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => wanted(keyword)));

/**
 * Whether the property tells the branches apart: all are objects and require it as strings that no other branch
 * allows.
 */
export function tagsBranches(
  property: string,
  { type, oneOf: branches = [], required = [] }: Pick<JsonSchema, 'type' | 'oneOf' | 'required'>,
): boolean {
  const tags = branches.map((branch) => {
    const { const: fixed, enum: listed = [] } = branch.properties?.[property] ?? {};
    const areObjects = (branch.type ?? type) === 'object';
    const isRequired = [...required, ...(branch.required ?? [])].includes(property);
    if (!areObjects || !isRequired) return [];
    return fixed === undefined ? listed : [fixed];
  });
  const all = tags.flat();
  return (
    tags.every(({ length }) => length > 0) &&
    all.every((tag) => typeof tag === 'string') &&
    new Set(all).size === all.length
  );
}
