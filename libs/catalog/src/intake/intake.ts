import { pointerFrom } from '#schemas';
import type { JsonSchema } from '../json-schema.js';
import { isObject } from './is-object.js';
import { annotations, containers, dropped, unsupported } from './keywords.js';
import { type Reading, readers } from './readers.js';
import { target } from './references.js';
import { tagsBranches } from './tags.js';
import { orNull, speaksAbout, typed, typesIn } from './types.js';
import { caps, child, type Documents, OverCap, type Place, type SchemaProblem, type Walk } from './walk.js';

/**
 * Brings a schema to the one form: JSON Schema 2020-12 and the dialects of OpenAPI 3.0 and 3.1, whatever version
 * it claims. It accepts exactly the values that the given schema accepts; only `nullable` is read as it is meant,
 * beside an `enum` or a reference too. With problems the schema is of no use.
 */
export function intake(
  value: unknown,
  documents: Documents = noDocuments,
): { schema: JsonSchema; problems: SchemaProblem[] } {
  const walk: Walk = { problems: [], documents, schemas: 0, branches: 0 };
  const place: Place = { source: { root: value }, path: [], rowPath: [], depth: 0, through: [value] };
  try {
    return { schema: schemaAt(value, place, walk), problems: walk.problems };
  } catch (error) {
    if (!(error instanceof OverCap)) throw error;
    return { schema: {}, problems: [{ pointer: '', reason: error.message }] };
  }
}

function noDocuments(): never {
  throw new Error('there are no documents beside this schema');
}

function schemaAt(value: unknown, outer: Place, walk: Walk): JsonSchema {
  if (value === true) return {};
  if (value === false) return { not: {} };
  const place = { ...outer, depth: outer.depth + 1 };
  count(place, walk);
  if (!isObject(value)) {
    refuse(place, walk, 'expected a schema');
    return {};
  }
  const { notes, assertions } = read(value, place, walk);
  // Tagged branches are objects, whether it is said or not.
  const type = value['type'] ?? (assertions.discriminator && 'object');
  const own = withTypes(assertions, type, place, walk);
  const whole = withReference(own, value['$ref'], place, walk);
  const flat = Object.keys(whole).length === 1 && whole.allOf?.length === 1 ? (whole.allOf[0] ?? {}) : whole;
  return { ...(value['nullable'] === true ? orNull(flat) : flat), ...notes };
}

function count(place: Place, walk: Walk): void {
  walk.schemas += 1;
  if (place.depth > caps.depth) throw new OverCap(`nested deeper than ${caps.depth} schemas`);
  if (walk.schemas > caps.schemas) {
    throw new OverCap(`more than ${caps.schemas} schemas, with its references written out`);
  }
  if (walk.branches > caps.branches) {
    throw new OverCap(
      `more than ${caps.branches} branches of anyOf, oneOf and allOf, with its references written out`,
    );
  }
}

function refuse(place: Place, walk: Walk, reason: string): undefined {
  const { file } = place.source;
  const where = file === undefined ? '' : `${file}#${pointerFrom(place.path)}: `;
  walk.problems.push({ pointer: pointerFrom(place.rowPath), reason: where + reason });
  return undefined;
}

/** Every keyword in the one form, `type`, `nullable` and `$ref` excepted. */
function read(
  value: Record<string, unknown>,
  place: Place,
  walk: Walk,
): { notes: JsonSchema; assertions: JsonSchema } {
  const notes: Record<string, unknown> = {};
  const assertions: Record<string, unknown> = {};
  for (const [keyword, given] of Object.entries(inclusive(value))) {
    const at = child(place, keyword);
    if (!isKnown(keyword)) {
      refuseUnknown(keyword, at, walk);
      continue;
    }
    const reading: Reading = {
      place: at,
      walk,
      schema: (part, where) => schemaAt(part, where, walk),
      refuse: (reason) => refuse(at, walk, reason),
    };
    if (isUnion(keyword) && Array.isArray(given)) walk.branches += given.length;
    const result = readers[keyword](given, reading);
    if (result === undefined) continue;
    if (isNote(keyword)) notes[keyword] = result;
    else assertions[keyword] = result;
  }
  if (value['example'] !== undefined && notes['examples'] === undefined)
    notes['examples'] = [value['example']];
  return {
    notes,
    assertions: checked(assertions, value['type'], place, walk),
  };
}

const isKnown = (keyword: string): keyword is keyof typeof readers => Object.hasOwn(readers, keyword);
const isNote = (keyword: string): boolean => annotations.includes(keyword as (typeof annotations)[number]);
const isUnion = (keyword: string): boolean => ['anyOf', 'oneOf', 'allOf'].includes(keyword);

/** OpenAPI 3.0 marks a bound as exclusive by a flag beside it. */
function inclusive(value: Record<string, unknown>): Record<string, unknown> {
  const result = { ...value };
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof result[flag] !== 'boolean') continue;
    if (result[flag] && result[bound] !== undefined) {
      result[flag] = result[bound];
      delete result[bound];
    } else delete result[flag];
  }
  return result;
}

function refuseUnknown(keyword: string, at: Place, walk: Walk): void {
  if (unsupported.has(keyword)) refuse(at, walk, `${keyword} is not supported`);
  if (dropped.has(keyword) || containers.has(keyword) || keyword.startsWith('x-')) return;
  // A partner's document may hold words of its own; in a row such a word is mistyped.
  if (at.source.file === undefined && !unsupported.has(keyword)) refuse(at, walk, `${keyword} is no keyword`);
}

/** What single keywords cannot tell: a tag must tell branches apart, and comparing each element with each has a price. */
function checked(assertions: JsonSchema, type: unknown, place: Place, walk: Walk): JsonSchema {
  const { discriminator, ...others } = assertions;
  if (others.uniqueItems === true && !isCheapToCompare(others)) {
    refuse(child(place, 'uniqueItems'), walk, 'needs elements of a plain type, or maxItems of at most 100');
  }
  if (discriminator === undefined) return others;
  const mayTag = type === undefined || type === 'object';
  if (mayTag && tagsBranches(discriminator.propertyName, { ...others, type })) return assertions;
  // A partner's may name its branches by a mapping to references; the union is checked without it all the same.
  if (place.source.file === undefined) {
    refuse(
      child(place, 'discriminator'),
      walk,
      'needs a oneOf whose branches require it as texts of their own',
    );
  }
  return others;
}

const isCheapToCompare = ({ items, maxItems }: JsonSchema): boolean =>
  (maxItems !== undefined && maxItems <= 100) ||
  (items?.type !== undefined && items.type !== 'object' && items.type !== 'array');

function withTypes(assertions: JsonSchema, type: unknown, place: Place, walk: Walk): JsonSchema {
  const types = typesIn(type);
  if (types === undefined) {
    refuse(child(place, 'type'), walk, `${JSON.stringify(type)} is no type`);
    return assertions;
  }
  if (place.source.file === undefined && types.length > 0) {
    const idle = Object.keys(assertions).find((keyword) => !types.some((each) => speaksAbout(keyword, each)));
    if (idle !== undefined) refuse(child(place, idle), walk, `says nothing about ${types.join(' or ')}`);
  }
  return typed(assertions, types) ?? refuse(place, walk, 'no value can fulfil this') ?? {};
}

function withReference(own: JsonSchema, reference: unknown, place: Place, walk: Walk): JsonSchema {
  if (reference === undefined) return own;
  const at = child(place, '$ref');
  if (typeof reference !== 'string') {
    refuse(at, walk, 'expected a text');
    return own;
  }
  const found = target(reference, at, walk);
  if (typeof found === 'string') {
    refuse(at, walk, found);
    return own;
  }
  const referred = schemaAt(found.schema, found.place, walk);
  return Object.keys(own).length === 0 ? referred : { allOf: [referred, own] };
}
