import { z } from 'zod';
import type { Json } from '#schemas';
import { type JsonSchema, type SchemaType, schemaTypes } from '../json-schema.js';
import { patternProblem } from './pattern.js';

interface Keyword<T> {
  /** The shape of its value, or where the schemas of its value are. */
  value: z.ZodType<T | undefined> | 'schema' | 'schemas' | 'schemasByName';
  /** The types that the keyword says something about; left out, every one. */
  about?: readonly SchemaType[];
  /** An annotation says nothing about whether a value is accepted. */
  isAnnotation?: true;
}

const text = z.string();
const count = z.int().min(0);
const anything = z.custom<Json>();
const values = z.array(anything).min(1);

/** An empty list demands nothing. */
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
  deprecated: annotation(z.boolean()),
  format: annotation(text),
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

const typesOf = (name: string): readonly SchemaType[] | undefined =>
  isKeyword(name) ? keywords[name].about : undefined;

export const speaksAbout = (keyword: string, type: SchemaType): boolean =>
  typesOf(keyword)?.includes(type) ?? true;

/** The types a `type` keyword names, none when it is absent; undefined when it is none. */
export function typesIn(value: unknown): SchemaType[] | undefined {
  if (value === undefined) return [];
  const listed = z.array(z.enum(schemaTypes)).min(1).safeParse([value].flat()).data;
  // Every integer is a number.
  return listed && [...new Set(listed)].filter((type) => type !== 'integer' || !listed.includes('number'));
}

/**
 * The assertions under the types that are allowed: one branch a type, each with the keywords that speak about it.
 * Undefined when they contradict the types, so that no value is left.
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

/** Whether the property tells the branches apart: all are objects and require it as texts that no other branch has. */
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
