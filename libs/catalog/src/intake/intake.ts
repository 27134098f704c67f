import { pointerFrom, valueAt } from '#schemas';
import type { JsonSchema } from '../json-schema.js';
import { ignored, isKeyword, isObject, keywords, unsupported } from './keywords.js';
import { orNull, speaksAbout, tagsBranches, typed, typesIn } from './types.js';

/** A problem of a schema: its place, as a JSON pointer, and the reason. */
interface SchemaProblem {
  pointer: string;
  reason: string;
}

/** Gives the content of a document that lies beside the row; throws with the reason when it cannot. */
export type Documents = (file: string) => unknown;

/**
 * Brings a schema to the one form: JSON Schema 2020-12 and the dialects of OpenAPI 3.0 and 3.1, whatever version
 * it claims. It accepts exactly the values that the given schema accepts; only `nullable` is read as it is meant,
 * beside an `enum` or a reference too. With problems the schema is of no use.
 */
export function intake(
  value: unknown,
  documents: Documents = noDocuments,
): { schema: JsonSchema; problems: SchemaProblem[] } {
  const walk = new Intake(documents);
  try {
    const place = { source: { root: value }, path: [], rowPath: [], depth: 0, through: [value] };
    return { schema: walk.schemaAt(value, place), problems: walk.problems };
  } catch (error) {
    if (!(error instanceof OverCap)) throw error;
    return { schema: {}, problems: [{ pointer: '', reason: error.message }] };
  }
}

function noDocuments(): never {
  throw new Error('there are no documents beside this schema');
}

/** Where the intake stands. */
interface Place {
  /** The text that it reads. In the row itself, which has no `file`, an unknown keyword is an error, elsewhere not. */
  source: { root: unknown; file?: string };
  path: readonly string[];
  /** The place in the row that leads here: its own, or that of the reference into another file. */
  rowPath: readonly string[];
  depth: number;
  /** The referenced schemas that it is inside of. */
  through: readonly unknown[];
}

/** The numbers keep one schema's compilation within some ten milliseconds, and one value's check far below one. */
const caps = { schemas: 2000, branches: 400, depth: 40 };

/** Ends an intake at a cap: going on would cost what the cap is there to save. */
class OverCap extends Error {}

class Intake {
  readonly problems: SchemaProblem[] = [];
  private schemas = 0;
  private branches = 0;

  constructor(private readonly documents: Documents) {}

  schemaAt(value: unknown, outer: Place): JsonSchema {
    if (value === true) return {};
    if (value === false) return { not: {} };
    const place = { ...outer, depth: outer.depth + 1 };
    this.count(place);
    if (!isObject(value)) {
      this.refuse(place, 'expected a schema');
      return {};
    }
    const { annotations, ...read } = this.read(value, place);
    const assertions = this.checked(read.assertions, value['type'], place);
    // Tagged branches are objects, whether it is said or not.
    const type = value['type'] ?? (assertions.discriminator && 'object');
    const whole = this.withReference(this.withTypes(assertions, type, place), value['$ref'], place);
    const flat =
      Object.keys(whole).length === 1 && whole.allOf?.length === 1 ? (whole.allOf[0] ?? {}) : whole;
    return { ...(value['nullable'] === true ? orNull(flat) : flat), ...annotations };
  }

  private count({ depth }: Place): void {
    this.schemas += 1;
    if (depth > caps.depth) throw new OverCap(`nested deeper than ${caps.depth} schemas`);
    if (this.schemas > caps.schemas) {
      throw new OverCap(`more than ${caps.schemas} schemas, with its references written out`);
    }
    if (this.branches > caps.branches) {
      throw new OverCap(
        `more than ${caps.branches} branches of anyOf, oneOf and allOf, with its references written out`,
      );
    }
  }

  private refuse({ source: { file }, path, rowPath }: Place, reason: string): undefined {
    const where = file === undefined ? '' : `${file}#${pointerFrom(path)}: `;
    this.problems.push({ pointer: pointerFrom(rowPath), reason: where + reason });
    return undefined;
  }

  /** Every keyword in the one form, `type`, `nullable` and `$ref` excepted. */
  private read(value: Record<string, unknown>, place: Place) {
    const annotations: Record<string, unknown> = {};
    const assertions: Record<string, unknown> = {};
    for (const [name, given] of Object.entries(withExclusiveBounds(value))) {
      const at = child(place, name);
      if (!isKeyword(name)) {
        this.refuseUnknown(name, at);
        continue;
      }
      if (['anyOf', 'oneOf', 'allOf'].includes(name) && Array.isArray(given)) this.branches += given.length;
      const { read, isAnnotation } = keywords[name];
      const result = read(given, {
        schema: (part, ...path) => this.schemaAt(part, child(at, ...path)),
        refuse: (reason) => this.refuse(at, reason),
      });
      if (result !== undefined) (isAnnotation ? annotations : assertions)[name] = result;
    }
    if (value['example'] !== undefined) annotations['examples'] ??= [value['example']];
    return { annotations, assertions: assertions as JsonSchema };
  }

  private refuseUnknown(name: string, at: Place): void {
    if (unsupported.has(name)) this.refuse(at, `${name} is not supported`);
    // A provider's document may hold words of its own; in a row such a word is mistyped.
    else if (at.source.file === undefined && !ignored.has(name) && !name.startsWith('x-')) {
      this.refuse(at, `${name} is no keyword`);
    }
  }

  /** Checks keywords together: a tag must tell branches apart, and comparing each element with each has a price. */
  private checked(assertions: JsonSchema, type: unknown, place: Place): JsonSchema {
    const { discriminator, ...others } = assertions;
    if (others.uniqueItems === true && !isCheapToCompare(others)) {
      this.refuse(child(place, 'uniqueItems'), 'needs elements of a plain type, or maxItems of at most 100');
    }
    if (discriminator === undefined) return others;
    const mayTag = type === undefined || type === 'object';
    if (mayTag && tagsBranches(discriminator.propertyName, { ...others, type })) return assertions;
    // A provider's may name its branches by a mapping to references; the union is checked without it all the same.
    if (place.source.file === undefined) {
      this.refuse(
        child(place, 'discriminator'),
        'needs a oneOf whose branches require it as texts of their own',
      );
    }
    return others;
  }

  private withTypes(assertions: JsonSchema, type: unknown, place: Place): JsonSchema {
    const types = typesIn(type);
    if (types === undefined) {
      this.refuse(child(place, 'type'), `${JSON.stringify(type)} is no type`);
      return assertions;
    }
    if (place.source.file === undefined && types.length > 0) {
      const idle = Object.keys(assertions).find((name) => !types.some((each) => speaksAbout(name, each)));
      if (idle !== undefined) this.refuse(child(place, idle), `says nothing about ${types.join(' or ')}`);
    }
    return typed(assertions, types) ?? this.refuse(place, 'no value can fulfil this') ?? {};
  }

  private withReference(own: JsonSchema, reference: unknown, place: Place): JsonSchema {
    if (reference === undefined) return own;
    const at = child(place, '$ref');
    try {
      const found = this.target(reference, at);
      const referred = this.schemaAt(found.schema, found.place);
      return Object.keys(own).length === 0 ? referred : { allOf: [referred, own] };
    } catch (error) {
      if (!(error instanceof BadReference)) throw error;
      this.refuse(at, error.message);
      return own;
    }
  }

  /**
   * The target of a reference: a place in the same text (`#/$defs/Size`) or in a document beside the row
   * (`provider.json#/components/schemas/Input`).
   */
  private target(reference: unknown, place: Place): { schema: unknown; place: Place } {
    if (typeof reference !== 'string') throw new BadReference('expected a text');
    const [file = '', ...fragment] = reference.split('#');
    const pointer = decoded(fragment.join('#'));
    if (pointer === undefined || !/^(\/|$)/.test(pointer)) {
      throw new BadReference(`${reference} is no JSON pointer`);
    }
    const source = file === '' ? place.source : { root: this.document(file), file };
    const schema = valueAt(source.root, pointer);
    if (schema === undefined) throw new BadReference(`${reference} names nothing`);
    if (place.through.includes(schema)) {
      throw new BadReference(`${reference} leads back to itself; a schema must end`);
    }
    const path = pointer.split('/').slice(1);
    const rowRoot = place.rowPath.slice(0, place.rowPath.length - place.path.length);
    // Problems inside the row's own text are told where they stand, others where the row refers to them.
    const rowPath = source.file === undefined ? [...rowRoot, ...path] : place.rowPath;
    return { schema, place: { ...place, source, path, rowPath, through: [...place.through, schema] } };
  }

  private document(file: string): unknown {
    try {
      return this.documents(file);
    } catch (error) {
      throw new BadReference(`${file}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** A reference that names nothing usable. */
class BadReference extends Error {}

function decoded(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}

const child = (place: Place, ...segments: readonly (string | number)[]): Place => {
  const below = segments.map(String);
  return {
    ...place,
    path: [...place.path, ...below],
    rowPath: place.source.file === undefined ? [...place.rowPath, ...below] : place.rowPath,
  };
};

/** OpenAPI 3.0 marks a bound as exclusive by a flag beside it. */
function withExclusiveBounds(value: Record<string, unknown>): Record<string, unknown> {
  const result = { ...value };
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof result[flag] !== 'boolean') continue;
    const isExclusive = result[flag] && result[bound] !== undefined;
    delete result[flag];
    if (!isExclusive) continue;
    result[flag] = result[bound];
    delete result[bound];
  }
  return result;
}

const isCheapToCompare = ({ items, maxItems }: JsonSchema): boolean =>
  (maxItems !== undefined && maxItems <= 100) ||
  (items?.type !== undefined && items.type !== 'object' && items.type !== 'array');
