import type { DataSource } from 'typeorm';
import { sortColumns } from './sorting.js';
import { takeTurn } from './turns.js';

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
const indexes: readonly (readonly [name: string, of: string])[] = [
  ...orders,
  // The way to nodes of kinds that few nodes are of.
  ['node_of_kind', `node (kind) ${listed}`],
  ['node_publisher', 'node (publisher_id)'],
  [
    'node_version_newest',
    `node_version (node_id, created_at DESC, version DESC) WHERE status = 'NodeVersionStatusActive'`,
  ],
];

/** Builds the indexes that are missing. */
export const buildIndexes = indexes
  .map(([name, of]) => `CREATE INDEX IF NOT EXISTS ${name} ON ${of};`)
  .join('\n');

const dropIndexes = `DROP INDEX IF EXISTS ${indexes.map(([name]) => name).join(', ')}`;

/** How long readers may be kept waiting for the indexes to be dropped. */
const dropWithin = '1s';
const lockNotAvailable = '55P03';

/**
 * Drops the indexes of a registry that has no nodes: to build them at the end of a first import takes an eighth of
 * what it takes to keep them meanwhile. Leaves them where somebody does not let go of the tables.
 */
export async function dropIndexesIfEmpty(dataSource: DataSource): Promise<void> {
  await dataSource
    .transaction(async (manager) => {
      await manager.query(takeTurn);
      const nodes = await manager.query<unknown[]>('SELECT FROM node LIMIT 1');
      if (nodes.length > 0) return;
      await manager.query(`SET LOCAL lock_timeout = '${dropWithin}'`);
      await manager.query(dropIndexes);
    })
    .catch((error: unknown) => {
      if ((error as { code?: unknown }).code !== lockNotAvailable) throw error;
    });
}

/** Builds the indexes that a first import dropped, also one that never came to its end. */
export async function ensureIndexes(dataSource: DataSource): Promise<void> {
  await dataSource.transaction(async (manager) => {
    await manager.query(takeTurn);
    await manager.query(buildIndexes);
  });
}
