import { RouterError } from '#errors';
import type { RowProblem } from '#providers';
import { LRUCache } from 'lru-cache';
import type { JsonSchema } from './json-schema.js';

/** The schemas of a model. */
export interface ModelSchemas {
  input: JsonSchema;
  output?: JsonSchema | undefined;
}

/** The schemas of a row that are read from its document on first use. */
export interface LateSchemas {
  /** The parsed row. With the same row and the same digest, a model is the same. */
  row: object;
  /** The SHA-256 of the document in hex. */
  digest: string;
  /** Reads the schemas, or returns why they cannot be used. */
  read: () => { schemas: ModelSchemas } | { problems: RowProblem[] };
}

interface Kept {
  schemas: ModelSchemas;
  /** Values made from the schemas, by the function that makes them. */
  made: Map<unknown, object | string>;
}

/** A compiled schema takes up to a megabyte. */
const maxKept = 100;

/** The key identifies a row and its document, so schemas of a replaced revision are never found. */
const kept = new LRUCache<LateSchemas, Kept>({ max: maxKept });
const late = new WeakMap<object, LateSchemas>();

/** Declares that the schemas of a model are read on first use. */
export function readLater(model: object, schemas: LateSchemas): void {
  late.set(model, schemas);
}

/** How to read the schemas of a model that are read on first use. Undefined for other models. */
export const lateSchemas = (model: object): LateSchemas | undefined => late.get(model);

/** The schemas. Throws `RouterError` if the document cannot be used, because it has changed since the catalog was read. */
export const schemasOf = (id: string, schemas: LateSchemas): ModelSchemas => keptOf(id, schemas).schemas;

function keptOf(id: string, schemas: LateSchemas): Kept {
  const known = kept.get(schemas);
  if (known !== undefined) return known;
  const read = schemas.read();
  if ('problems' in read) {
    const reasons = read.problems.map(({ message }) => message).join('; ');
    throw new RouterError(
      'service_unavailable',
      'The schema of this model cannot be read at the moment; retry later.',
      { internal: `the schema of ${id} is not usable: ${reasons}` },
    );
  }
  const now = { schemas: read.schemas, made: new Map() };
  kept.set(schemas, now);
  return now;
}

/** Forgets what was made for a model whose schemas are read on first use. */
export function forgetSchemas(model: object): void {
  const schemas = late.get(model);
  if (schemas !== undefined) kept.delete(schemas);
}

/** Caches a value that is made from the schemas of a model, as long as they are kept themselves. */
export function madeOnce<Made extends object | string>(
  id: string,
  schemas: LateSchemas,
  key: unknown,
  make: () => Made,
): Made {
  const { made: all } = keptOf(id, schemas);
  let made = all.get(key) as Made | undefined;
  if (made === undefined) all.set(key, (made = make()));
  return made;
}
