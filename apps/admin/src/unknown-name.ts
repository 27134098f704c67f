import { nearestIds } from '#catalog';

/** An error for a name that nobody knows, with up to three that are near to it. */
export function unknownName(kind: string, name: string, known: Iterable<string>): Error {
  const near = nearestIds(
    name,
    [...known].map((id) => ({ id, aliases: [] })),
  );
  const meant = near.length === 0 ? '' : ` Did you mean ${near.map((id) => `"${id}"`).join(' or ')}?`;
  return new Error(`There is no ${kind} "${name}".${meant}`);
}
