export const maxSuggestions = 3;

/**
 * The ids of up to three models whose id or alias is nearest to `asked`, by edit distance. A path of three segments
 * is also read as its joined id (`veo-3.1/fast` as `veo-3.1-fast`), which comes first if it exists. Ids that share
 * less than half of their characters with `asked` are not suggested.
 */
export function nearestIds(asked: string, models: readonly Named[]): string[] {
  const wanted = joined(asked.toLowerCase().slice(0, 193));
  const distanceTo = (name: string) =>
    distanceWithin(wanted, joined(name), Math.max(wanted.length, name.length) / 2) ?? Infinity;
  return models
    .map(({ id, aliases }) => ({ id, distance: Math.min(...[id, ...aliases].map(distanceTo)) }))
    .filter(({ distance }) => distance !== Infinity)
    .sort((one, other) => one.distance - other.distance || (one.id < other.id ? -1 : 1))
    .slice(0, maxSuggestions)
    .map(({ id }) => id);
}

interface Named {
  id: string;
  aliases: readonly string[];
}

function joined(asked: string): string {
  const [provider = '', ...rest] = asked.split('/');
  return rest.length === 0 ? provider : `${provider}/${rest.join('-')}`;
}

/** The Levenshtein distance, or undefined if it exceeds `limit`. Keeps only one row of the table. */
function distanceWithin(one: string, other: string, limit: number): number | undefined {
  if (Math.abs(one.length - other.length) > limit) return undefined;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= other.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + Number(one[i - 1] !== other[j - 1]);
      const cell = Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      next.push(cell);
      if (cell < least) least = cell;
    }
    if (least > limit) return undefined;
    row = next;
  }
  const distance = row[other.length] ?? 0;
  return distance <= limit ? distance : undefined;
}
