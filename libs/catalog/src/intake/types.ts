import type { Json } from '#schemas';
import type { JsonSchema, SchemaType } from '../json-schema.js';
import { subjects, typeless } from './keywords.js';

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

type Subject = keyof typeof subjects;

const isSubject = (keyword: string): keyword is Subject => Object.hasOwn(subjects, keyword);

export const speaksAbout = (keyword: string, type: SchemaType): boolean =>
  !isSubject(keyword) || (subjects[keyword] as readonly SchemaType[]).includes(type);

function isOfType(value: Json, type: SchemaType): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
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
  if (types.length > 1 && typeless.some((keyword) => !valued(keyword) && assertions[keyword] !== undefined)) {
    const union = typed(
      pick(assertions, (keyword) => isSubject(keyword) || valued(keyword)),
      types,
    );
    return (
      union && { allOf: [union, pick(assertions, (keyword) => !isSubject(keyword) && !valued(keyword))] }
    );
  }
  const branches = types.flatMap((type) => ofOneType(assertions, type) ?? []);
  const [only] = branches;
  return branches.length > 1 ? { anyOf: branches } : only;
}

const valued = (keyword: string): boolean => keyword === 'enum' || keyword === 'const';

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
