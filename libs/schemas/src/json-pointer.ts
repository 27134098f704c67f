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
export const valuesAt = (document: unknown, pointer: string): Json[] =>
  segmentsOf(pointer).reduce(
    (reached, segment) => reached.flatMap((value) => step(value, segment)),
    [document as Json],
  );

/** The first value that the pointer reaches. */
export const valueAt = (document: unknown, pointer: string): Json | undefined =>
  valuesAt(document, pointer)[0];

function step(value: Json, segment: string): Json[] {
  if (typeof value !== 'object' || value === null) return [];
  if (segment === '*') return Object.values(value);
  if (Array.isArray(value)) {
    const element = /^(0|[1-9]\d*)$/.test(segment) ? value[Number(segment)] : undefined;
    return element === undefined ? [] : [element];
  }
  // Own fields only: a partner's word such as "constructor" must not reach the prototype.
  const member = Object.hasOwn(value, segment) ? value[segment] : undefined;
  return member === undefined ? [] : [member];
}
