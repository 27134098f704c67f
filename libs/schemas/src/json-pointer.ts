export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** A JSON pointer (RFC 6901), except the empty one, which is the whole document. */
export type JsonPointer = `/${string}`;

/** The decoded segments of a JSON pointer (RFC 6901). None for the empty pointer. */
export const pointerSegments = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));

export const pointerFrom = (path: readonly PropertyKey[]): string =>
  path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** A cache. Its keys are the pointers in rows and adapters, which are used on every call. */
const knownSegments = new Map<string, readonly string[]>();

function segmentsOf(pointer: string): readonly string[] {
  let segments = knownSegments.get(pointer);
  if (segments === undefined) knownSegments.set(pointer, (segments = pointerSegments(pointer)));
  return segments;
}

/**
 * All values of parsed JSON that the pointer matches, in document order. A segment `*` matches every element of an
 * array or object.
 */
export function valuesAt(document: unknown, pointer: string): Json[] {
  let reached = [document as Json];
  for (const segment of segmentsOf(pointer)) reached = reached.flatMap((value) => step(value, segment));
  return reached;
}

/** The first value that the pointer matches. */
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
  // Only own properties: a name such as "constructor" in a provider's reply must not reach the prototype.
  return Object.hasOwn(value, segment) ? value[segment] : undefined;
}
