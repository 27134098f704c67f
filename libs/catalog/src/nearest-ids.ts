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

/** The question that an error about an unknown name ends with, or an empty text if no known name is similar. */
export function didYouMean(asked: string, known: Iterable<string>, shown = (name: string) => name): string {
  const near = nearestIds(
    asked,
    [...known].map((id) => ({ id, aliases: [] })),
  );
  return suggesting(near.map(shown));
}

/** ` Did you mean a, b or c?`, or an empty text without names. */
export const suggesting = (names: readonly string[]): string =>
  names.length === 0 ? '' : ` Did you mean ${alternatives.format(names)}?`;

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });

interface Named {
  id: string;
  aliases: readonly string[];
}

function joined(asked: string): string {
  const [provider = '', ...rest] = asked.split('/');
  return rest.length === 0 ? provider : `${provider}/${rest.join('-')}`;
}

/**
 * The number of edits between two names, or undefined if it exceeds `limit`. Two neighbouring characters in the
 * wrong order are one edit, because that is a common typo. Keeps only two rows of the table.
 */
export function distanceWithin(one: string, other: string, limit: number): number | undefined {
  if (Math.abs(one.length - other.length) > limit) return undefined;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  let previous: number[] = [];
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= other.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + Number(one[i - 1] !== other[j - 1]);
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swap = i > 1 && j > 1 && isSwapped ? (previous[j - 2] ?? 0) + 1 : Infinity;
      const cell = Math.min(substitution, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      next.push(cell);
      if (cell < least) least = cell;
    }
    // A swap continues from the row before, so one row may exceed the limit by 1.
    if (least > limit + 1) return undefined;
    previous = row;
    row = next;
  }
  const distance = row[other.length] ?? 0;
  return distance <= limit ? distance : undefined;
}
