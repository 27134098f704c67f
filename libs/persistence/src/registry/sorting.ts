/** The columns that a page can be sorted by, each with an index of its own. Null where the primary order serves. */
export const sortColumns = {
  id: 'id',
  name: 'name',
  author: 'author',
  category: 'category',
  created_at: 'created_at',
  updated_at: 'updated_at',
  downloads: 'downloads',
  github_stars: 'github_stars',
  rating: 'rating',
  search_ranking: 'search_ranking',
  status: 'listed_status',
} as const satisfies Record<string, string>;

export type SortColumn = keyof typeof sortColumns;

export interface SortKey {
  column: SortColumn;
  descending: boolean;
}

/** A missing value counts as the least; every order ends in the id, so that it is total. */
export function orderBy(keys: readonly SortKey[], reversed: boolean): string {
  const all = keys.some(({ column }) => column === 'id')
    ? keys
    : [...keys, { column: 'id', descending: false } as const];
  return all
    .map(({ column, descending }) =>
      descending === reversed
        ? `${sortColumns[column]} ASC NULLS FIRST`
        : `${sortColumns[column]} DESC NULLS LAST`,
    )
    .join(', ');
}
