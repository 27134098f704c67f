import type { Json } from '#schemas';
import type { JsonSchema, SchemaType } from '../json-schema.js';
import { isObject, typesOf } from './keywords.js';

const typeNames: readonly SchemaType[] = [
  'object',
  'array',
  'string',
  'integer',
  'number',
  'boolean',
  'null',
];

const isTypeName = (value: unknown): value is SchemaType => typeNames.includes(value as SchemaType);

/** The types a `type` keyword names, none when it is absent; undefined when it is none. */
export function typesIn(value: unknown): SchemaType[] | undefined {
  if (value === undefined) return [];
  const listed = [...new Set(Array.isArray(value) ? (value as unknown[]) : [value])];
  if (listed.length === 0 || !listed.every(isTypeName)) return undefined;
  // Every integer is a number.
  return listed.includes('number') ? listed.filter((type) => type !== 'integer') : listed;
}

export const speaksAbout = (keyword: string, type: SchemaType): boolean =>
  typesOf(keyword)?.includes(type) ?? true;

function isOfType(value: Json, type: SchemaType): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'object':
      return isObject(value);
    default:
      return typeof value === type;
  }
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
  if (left?.length === 0) return undefined;
  if (fixed !== undefined && !isOfType(fixed, type)) return undefined;
  return {
    type,
    ...pick(others, (keyword) => speaksAbout(keyword, type)),
    ...(left !== undefined && { enum: left }),
    ...(fixed !== undefined && { const: fixed }),
  };
}

const pick = (schema: JsonSchema, wanted: (keyword: string) => boolean): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => wanted(keyword)));

/** The schema, or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...others } = schema;
  const nothing: JsonSchema = { type: 'null' };
  if (anyOf === undefined || Object.keys(others).length > 0) return { anyOf: [schema, nothing] };
  return anyOf.some(({ type }) => type === 'null') ? schema : { anyOf: [...anyOf, nothing] };
}

/**
 * Whether the property tells the branches apart: all are objects, and each requires it as texts that no other
 * branch has.
 */
export function tagsBranches(
  property: string,
  { type, oneOf: branches = [], required = [] }: Pick<JsonSchema, 'type' | 'oneOf' | 'required'>,
): boolean {
  const tags = branches.map((branch) => {
    const areObjects = (branch.type ?? type) === 'object';
    return areObjects && [...required, ...(branch.required ?? [])].includes(property)
      ? tagsOf(property, branch)
      : [];
  });
  const all = tags.flat();
  return tags.every(({ length }) => length > 0) && new Set(all).size === all.length;
}

function tagsOf(property: string, { properties = {} }: JsonSchema): string[] {
  const declared = Object.hasOwn(properties, property) ? properties[property] : undefined;
  const values = declared?.const === undefined ? (declared?.enum ?? []) : [declared.const];
  return values.every((value) => typeof value === 'string') ? values : [];
}
