import { sortColumns } from './sorting.js';

const listed = `WHERE status <> 'NodeStatusDeleted'`;
/** What filters ask. Each order's index has it, so that a page is cut out of the index alone, however deep it lies. */
const filters = ['os_mark', 'accelerator_mark', 'app_mark', 'banned', 'updated_at'];

const including = (key: string): string =>
  `INCLUDE (${filters.filter((column) => column !== key).join(', ')}) ${listed}`;

/** One index a sort column, read in both directions; nodes of the same value are put in the order of their ids. */
const orders = Object.entries(sortColumns).map(([name, column]) =>
  column === 'id'
    ? `CREATE INDEX node_by_id ON node (id) ${including(column)};`
    : `CREATE INDEX node_by_${name} ON node (${column} NULLS FIRST, id) ${including(column)};`,
);

/** Nearly all nodes have the same status: to sort these by id would be to sort all. */
const statusDescending = `CREATE INDEX node_by_status_descending ON node (listed_status DESC NULLS LAST, id) ${including('status')};`;

/** Few combinations are distinct, so this is the smallest way to count, and the way to nodes that few filters let through. */
const counting = `CREATE INDEX node_filters ON node (accelerator_mark, os_mark, app_mark, banned) ${listed};`;

export const registryIndexes = [...orders, statusDescending, counting].join('\n');
