import { sortColumns } from './sorting.js';

/**
 * What filters ask, and columns in which many nodes may have the same value. Each order's index has it, so that a
 * page is cut out of the index alone, however deep it lies, also among nodes that are equal in another column.
 */
const included = ['kind', 'updated_at', 'category', 'downloads', 'github_stars', 'rating', 'search_ranking'];

export const including = (key: string): string =>
  `INCLUDE (${included.filter((column) => column !== key).join(', ')})`;

const listed = `WHERE kind IS NOT NULL`;

/**
 * One index a sort column, read in both directions; nodes of the same value are put in the order of their ids. The
 * primary key is the one of ids, and a status is the same for all nodes of a kind.
 */
const orders = Object.entries(sortColumns).flatMap(([name, column]): [string, string][] => {
  if (name === 'id' || name === 'status') return [];
  // Nodes with a `timestamp` are counted in the index of times: the less it holds, the sooner.
  const more = name === 'updated_at' ? 'INCLUDE (kind)' : including(column);
  return [[`node_by_${name}`, `node (${column} NULLS FIRST, id) ${more} ${listed}`]];
});

/** What readers need, and no writer: to these the primary keys are enough. */
export const registryIndexes: readonly (readonly [name: string, of: string])[] = [
  ...orders,
  // The way to nodes of kinds that few nodes are of.
  ['node_of_kind', `node (kind) ${listed}`],
  ['node_publisher', 'node (publisher_id)'],
  [
    'node_version_newest',
    `node_version (node_id, created_at DESC, version DESC) WHERE status = 'NodeVersionStatusActive'`,
  ],
];
