/** The columns that a page can be sorted by, under the names of the interface. */
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

/** Every order ends in the id, so that it is total; what is behind the id has no effect. */
export function totalOrder(keys: readonly SortKey[]): SortKey[] {
  const place = keys.findIndex(({ column }) => column === 'id');
  return place === -1 ? [...keys, { column: 'id', descending: false }] : keys.slice(0, place + 1);
}

export const reversed = (keys: readonly SortKey[]): SortKey[] =>
  keys.map(({ column, descending }) => ({ column, descending: !descending }));

/** A missing value counts as the least. Ids are never missing, and their index is ordered as indexes are by default. */
export const orderBy = (keys: readonly SortKey[]): string =>
  keys
    .map(({ column, descending }) => {
      if (column === 'id') return descending ? 'id DESC' : 'id';
      return `${sortColumns[column]} ${descending ? 'DESC NULLS LAST' : 'ASC NULLS FIRST'}`;
    })
    .join(', ');
