import type { Json } from './contract.js';

/** A JSON pointer (RFC 6901); a segment `*` stands for every element of an array or object. */
export type Pointer = `/${string}`;

const unescape = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');

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

/** Every value the pointer reaches, in document order; none when the path does not exist. */
export function valuesAt(document: Json, pointer: Pointer): Json[] {
  let reached: Json[] = [document];
  for (const segment of pointer.slice(1).split('/').map(unescape)) {
    reached = reached.flatMap((value) => step(value, segment));
  }
  return reached;
}

/** The first value the pointer reaches. */
export const valueAt = (document: Json, pointer: Pointer): Json | undefined => valuesAt(document, pointer)[0];
