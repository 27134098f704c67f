import { unescape } from 'node:querystring';
import type { RowProblem } from '#providers';
import { pointerFrom, pointerSegments, valueAt } from '#schemas';
import type { JsonSchema } from '../json-schema.js';
import {
  ignored,
  isKeyword,
  keywords,
  speaksAbout,
  tagsBranches,
  typed,
  typesIn,
  unsupported,
} from './keywords.js';

/** Returns the content of a document in the directory of the row. Throws if that is not possible. */
export type Documents = (file: string) => unknown;

/**
 * Normalizes a schema in JSON Schema 2020-12 or in the dialects of OpenAPI 3.0 and 3.1, whatever version it claims.
 * The result accepts exactly the same values. Only `nullable` is read as its authors mean it, also with an `enum`
 * or a reference. If there are problems, the schema must not be used.
 */
export function intake(
  value: unknown,
  documents: Documents = noDocuments,
): { schema: JsonSchema; problems: RowProblem[] } {
  const walk = new Intake(documents);
  try {
    const place = { source: { root: value }, path: [], depth: 0, through: [value] };
    return { schema: walk.schemaAt(value, place), problems: walk.problems };
  } catch (error) {
    if (!(error instanceof OverCap)) throw error;
    const message = `${error.message}, with references expanded`;
    return { schema: {}, problems: [{ path: [], message }] };
  }
}

function noDocuments(): never {
  throw new Error('this schema cannot refer to documents');
}

/** The current position of the intake. */
interface Place {
  /** The row itself, in which an unknown keyword is an error, or a file that the row refers to. */
  source: { root: unknown; file?: { name: string; referredAt: readonly PropertyKey[] } };
  path: readonly PropertyKey[];
  depth: number;
  /** The referenced schemas around this place. */
  through: readonly unknown[];
}

/**
 * Limits that keep the compilation of a schema within about ten milliseconds, and the check of a value far below
 * one.
 */
const caps = { schemas: 2000, branches: 400, depth: 40 };

/** Aborts the intake at a cap, because continuing would cost what the cap is meant to save. */
class OverCap extends Error {}

class Intake {
  readonly problems: RowProblem[] = [];
  private schemas = 0;
  private branches = 0;

  constructor(private readonly documents: Documents) {}

  schemaAt(value: unknown, outer: Place): JsonSchema {
    if (value === true) return {};
    if (value === false) return { not: {} };
    const place = { ...outer, depth: outer.depth + 1 };
    this.count(place);
    if (!isObject(value)) return this.refuse(place, 'expected a schema') ?? {};
    const { annotations, ...read } = this.read(value, place);
    const assertions = this.checked(read.assertions, value['type'], place);
    // Tagged branches are objects, even if the schema does not say so.
    const type = value['type'] ?? (assertions.discriminator && 'object');
    const whole = this.withReference(this.withTypes(assertions, type, place), value['$ref'], place);
    const flat =
      Object.keys(whole).length === 1 && whole.allOf?.length === 1 ? (whole.allOf[0] ?? {}) : whole;
    return { ...(value['nullable'] === true ? orNull(flat) : flat), ...annotations };
  }

  private count({ depth }: Place): void {
    this.schemas += 1;
    if (depth > caps.depth) throw new OverCap(`nested deeper than ${caps.depth} schemas`);
    if (this.schemas > caps.schemas) throw new OverCap(`more than ${caps.schemas} schemas`);
    if (this.branches > caps.branches) {
      throw new OverCap(`more than ${caps.branches} branches of anyOf, oneOf and allOf`);
    }
  }

  private refuse({ source: { file }, path }: Place, reason: string): undefined {
    this.problems.push(
      file === undefined
        ? { path, message: reason }
        : { path: file.referredAt, message: `${file.name}#${pointerFrom(path)}: ${reason}` },
    );
  }

  /** Normalizes every keyword except `type`, `nullable` and `$ref`. */
  private read(value: Record<string, unknown>, place: Place) {
    const annotations: Record<string, unknown> = {};
    const assertions: Record<string, unknown> = {};
    for (const [name, given] of withExclusiveBounds(value)) {
      const at = child(place, name);
      if (!isKeyword(name)) {
        this.refuseUnknown(name, at);
        continue;
      }
      const result = this.valueOf(name, given, at);
      if (result !== undefined) (keywords[name].isAnnotation ? annotations : assertions)[name] = result;
    }
    if (value['example'] !== undefined) annotations['examples'] ??= [value['example']];
    return { annotations, assertions: assertions as JsonSchema };
  }

  private refuseUnknown(name: string, at: Place): void {
    if (unsupported.has(name)) this.refuse(at, `${name} is not supported`);
    // A provider's document may contain its own keywords. In a row, an unknown keyword is a mistake.
    else if (at.source.file === undefined && !ignored.has(name) && !name.startsWith('x-')) {
      this.refuse(at, `${name} is not a keyword`);
    }
  }

  /** The normalized value of a keyword. Undefined if it has no effect or is rejected. */
  private valueOf(name: keyof typeof keywords, given: unknown, at: Place): unknown {
    const { value } = keywords[name];
    if (value === 'schema') {
      return name === 'additionalProperties' && typeof given === 'boolean' ? given : this.schemaAt(given, at);
    }
    if (value === 'schemas') {
      if (!Array.isArray(given) || given.length === 0) return this.refuse(at, 'expected a list of schemas');
      this.branches += given.length;
      return given.map((branch, index) => this.schemaAt(branch, child(at, index)));
    }
    if (value === 'schemasByName') {
      if (!isObject(given)) return this.refuse(at, 'expected an object of schemas');
      return Object.fromEntries(
        Object.entries(given).map(([key, each]) => [key, this.schemaAt(each, child(at, key))]),
      );
    }
    const { data, error } = value.safeParse(given);
    return error ? this.refuse(at, error.issues.map(({ message }) => message).join(', ')) : data;
  }

  /**
   * Checks combinations of keywords: a tag must tell the branches apart, and `uniqueItems` must not be too
   * expensive.
   */
  private checked(assertions: JsonSchema, type: unknown, place: Place): JsonSchema {
    const { discriminator, ...others } = assertions;
    if (others.uniqueItems === true && !isCheapToCompare(others)) {
      this.refuse(
        child(place, 'uniqueItems'),
        'uniqueItems needs elements of a plain type, or maxItems of at most 100',
      );
    }
    if (discriminator === undefined) return others;
    const mayTag = type === undefined || type === 'object';
    if (mayTag && tagsBranches(discriminator.propertyName, { ...others, type })) return assertions;
    // A provider's discriminator may depend on a mapping to references. The union can be checked without it.
    if (place.source.file === undefined) {
      this.refuse(
        child(place, 'discriminator'),
        'a discriminator needs a oneOf whose branches each require the property as a different string',
      );
    }
    return others;
  }

  private withTypes(assertions: JsonSchema, type: unknown, place: Place): JsonSchema {
    const types = typesIn(type);
    if (types === undefined) {
      this.refuse(child(place, 'type'), `${JSON.stringify(type)} is not a type`);
      return assertions;
    }
    if (place.source.file === undefined && types.length > 0) {
      const idle = Object.keys(assertions).find((name) => !types.some((each) => speaksAbout(name, each)));
      if (idle !== undefined)
        this.refuse(child(place, idle), `${idle} does not apply to ${types.join(' or ')}`);
    }
    return typed(assertions, types) ?? this.refuse(place, 'no value can satisfy this schema') ?? {};
  }

  private withReference(own: JsonSchema, reference: unknown, place: Place): JsonSchema {
    if (reference === undefined) return own;
    const at = child(place, '$ref');
    let target: { schema: unknown; place: Place };
    try {
      target = this.target(reference, at);
    } catch (error) {
      this.refuse(at, error instanceof Error ? error.message : String(error));
      return own;
    }
    const referred = this.schemaAt(target.schema, target.place);
    return Object.keys(own).length === 0 ? referred : { allOf: [referred, own] };
  }

  /**
   * The target of a reference: a place in the same text (`#/$defs/Size`), or in a document in the directory of the
   * row (`provider.json#/components/schemas/Input`). Throws if the reference is not usable.
   */
  private target(reference: unknown, place: Place): { schema: unknown; place: Place } {
    if (typeof reference !== 'string') throw new Error('expected a string');
    const [name = '', ...fragment] = reference.split('#');
    const pointer = unescape(fragment.join('#'));
    if (!/^(\/|$)/.test(pointer)) throw new Error(`${reference} is not a JSON pointer`);
    const referredAt = place.source.file?.referredAt ?? place.path;
    const source = name === '' ? place.source : { root: this.documents(name), file: { name, referredAt } };
    const schema = valueAt(source.root, pointer);
    if (schema === undefined) throw new Error(`${reference} does not exist`);
    if (place.through.includes(schema)) {
      throw new Error(`${reference} is circular; a schema must be finite`);
    }
    const path = pointerSegments(pointer);
    return { schema, place: { ...place, source, path, through: [...place.through, schema] } };
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const child = (place: Place, segment: PropertyKey): Place => ({ ...place, path: [...place.path, segment] });

const exclusive: Record<string, string> = { minimum: 'exclusiveMinimum', maximum: 'exclusiveMaximum' };

/** The members. A bound that OpenAPI 3.0 marks as exclusive by a flag gets the name of the flag. */
const withExclusiveBounds = (schema: Record<string, unknown>): [string, unknown][] =>
  Object.entries(schema)
    .filter(([name, value]) => typeof value !== 'boolean' || !Object.values(exclusive).includes(name))
    .map(([name, value]) => [
      schema[exclusive[name] ?? ''] === true ? (exclusive[name] ?? name) : name,
      value,
    ]);

/** The schema, or null. */
function orNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...others } = schema;
  const nothing: JsonSchema = { type: 'null' };
  if (anyOf === undefined || Object.keys(others).length > 0) return { anyOf: [schema, nothing] };
  return anyOf.some(({ type }) => type === 'null') ? schema : { anyOf: [...anyOf, nothing] };
}

const isCheapToCompare = ({ items, maxItems }: JsonSchema): boolean =>
  (maxItems !== undefined && maxItems <= 100) ||
  (items?.type !== undefined && items.type !== 'object' && items.type !== 'array');
