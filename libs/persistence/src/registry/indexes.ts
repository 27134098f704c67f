import { sortColumns } from './sorting.js';

/**
 * What filters ask, and columns in which many nodes may have the same value. Each order's index has it, so that a
 * page is cut out of the index alone, however deep it lies, also among nodes that are equal in another column.
 */
const included = [
  'os_mark',
  'accelerator_mark',
  'app_mark',
  'banned',
  'updated_at',
  'listed_status',
  'category',
  'downloads',
  'github_stars',
  'rating',
  'search_ranking',
];

export const including = (key: string): string =>
  `INCLUDE (${included.filter((column) => column !== key).join(', ')})`;

const listed = `WHERE listed_status <> 'NodeStatusDeleted'`;

/** One index a sort column, read in both directions; nodes of the same value are put in the order of their ids. The primary key is the one of ids. */
const orders = Object.entries(sortColumns).flatMap(([name, column]) =>
  column === 'id'
    ? []
    : [`CREATE INDEX node_by_${name} ON node (${column} NULLS FIRST, id) ${including(column)} ${listed};`],
);

/** The way to nodes that few filters let through. */
const filters = `CREATE INDEX node_filters ON node (accelerator_mark, os_mark, app_mark, banned) ${listed};`;

export const registryIndexes = [...orders, filters].join('\n');
