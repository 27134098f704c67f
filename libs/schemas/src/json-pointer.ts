export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** RFC 6901; the empty text, which is the whole document, excepted. */
export type JsonPointer = `/${string}`;

/** The decoded segments of a JSON pointer (RFC 6901); the empty pointer has none. */
export const pointerSegments = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));

export const pointerFrom = (path: readonly PropertyKey[]): string =>
  path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Of pointers that rows and adapters name, which are read with every call. */
const knownSegments = new Map<string, readonly string[]>();

function segmentsOf(pointer: string): readonly string[] {
  let segments = knownSegments.get(pointer);
  if (segments === undefined) knownSegments.set(pointer, (segments = pointerSegments(pointer)));
  return segments;
}

/**
 * Every value of parsed JSON that the pointer reaches, in document order; none when the path does not exist. A segment
 * `*` stands for every element of an array or object.
 */
export function valuesAt(document: unknown, pointer: string): Json[] {
  let reached = [document as Json];
  for (const segment of segmentsOf(pointer)) reached = reached.flatMap((value) => step(value, segment));
  return reached;
}

/** The first value that the pointer reaches. */
export function valueAt(document: unknown, pointer: string): Json | undefined {
  if (pointer.includes('*')) return valuesAt(document, pointer)[0];
  let reached: Json | undefined = document as Json;
  for (const segment of segmentsOf(pointer)) reached = member(reached, segment);
  return reached;
}

function step(value: Json, segment: string): Json[] {
  if (segment === '*') return typeof value === 'object' && value !== null ? Object.values(value) : [];
  const there = member(value, segment);
  return there === undefined ? [] : [there];
}

function member(value: Json | undefined, segment: string): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return /^(0|[1-9]\d*)$/.test(segment) ? value[Number(segment)] : undefined;
  // Own fields only: a provider's word such as "constructor" must not reach the prototype.
  return Object.hasOwn(value, segment) ? value[segment] : undefined;
}
