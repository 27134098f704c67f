import type { JsonSchema } from './json-schema.js';

const unescape = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');

/** The decoded segments of a JSON pointer (RFC 6901). */
export const pointerSegments = (pointer: string): string[] => pointer.split('/').slice(1).map(unescape);

export const pointerFrom = (path: readonly PropertyKey[]): string =>
  path.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** The value at `pointer`, or undefined; own fields only, so that no path reaches a prototype. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document;
  for (const segment of pointerSegments(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}

/** Whether some branch of `schema` declares what `pointer` names; `*` stands for every array element. */
export function declares(schema: JsonSchema, pointer: string): boolean {
  let reached: JsonSchema[] = [schema];
  for (const segment of pointerSegments(pointer)) {
    reached = reached.flatMap(unfold).flatMap((branch) => step(branch, segment));
  }
  return reached.length > 0;
}

const unfold = (schema: JsonSchema): JsonSchema[] => [
  schema,
  ...[...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(unfold),
];

function step(schema: JsonSchema, segment: string): JsonSchema[] {
  const child = segment === '*' ? schema.items : schema.properties?.[segment];
  return child === undefined ? [] : [child];
}
