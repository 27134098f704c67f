import type { RegistryNode } from '#schemas';

/** What the database found under the names of the interface; what has no value is null. */
export type FoundNode = Record<string, unknown>;

/** A node as it is listed: what has no value is absent. */
export function listedNode({ translations, ...facts }: FoundNode): RegistryNode {
  return {
    ...(withoutNulls(facts) as RegistryNode),
    // An open object, which may hold nulls of its own.
    ...(translations !== null && { translations: translations as RegistryNode['translations'] }),
  };
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => (each === null ? [] : [[name, withoutNulls(each)]])),
  );
}
