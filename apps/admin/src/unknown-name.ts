import { nearestIds } from '#catalog';

/** An error for an unknown name, which suggests up to three similar ones. */
export function unknownName(kind: string, name: string, known: Iterable<string>): Error {
  const near = nearestIds(
    name,
    [...known].map((id) => ({ id, aliases: [] })),
  );
  const meant = near.length === 0 ? '' : ` Did you mean ${near.map((id) => `"${id}"`).join(' or ')}?`;
  return new Error(`There is no ${kind} "${name}".${meant}`);
}
