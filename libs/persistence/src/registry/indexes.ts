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
const orders = Object.entries(sortColumns).flatMap(([name, column]) =>
  name === 'id' || name === 'status'
    ? []
    : [`CREATE INDEX node_by_${name} ON node (${column} NULLS FIRST, id) ${including(column)} ${listed};`],
);

/** The way to nodes of kinds that few nodes are of. */
const kinds = `CREATE INDEX node_of_kind ON node (kind) ${listed};`;

export const registryIndexes = [...orders, kinds].join('\n');
