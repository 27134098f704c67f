import { LRUCache } from 'lru-cache';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Query } from '../pools.js';
import { listedStatusDetail } from './nodes-by-id.js';

/** The columns that pages are sorted by, under the names of the interface, and what Postgres compares for each. */
export const nodeSortExpressions = {
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
  // These columns have no collation of their own: "C" is the same order on every machine.
  description: 'description COLLATE "C"',
  license: 'license COLLATE "C"',
  repository: 'repository COLLATE "C"',
  icon: 'icon COLLATE "C"',
  banner_url: 'banner_url COLLATE "C"',
  publisher_id: 'publisher_id',
  status_detail: `(${listedStatusDetail}) COLLATE "C"`,
  supported_app_version: 'supported_app_version COLLATE "C"',
  supported_app_frontend_version: 'supported_app_frontend_version COLLATE "C"',
} as const;

export type NodeSortColumn = keyof typeof nodeSortExpressions;

export const nodeSortColumns = Object.keys(nodeSortExpressions) as NodeSortColumn[];

export interface NodeSort {
  column: NodeSortColumn;
  descending: boolean;
}

/** The properties that filters decide by. Few nodes have requirements of their own, so a filter decides on each facet once. */
export interface NodeFacet {
  supportedOs: readonly string[];
  supportedAccelerators: readonly string[];
  supportedAppVersion: string | null;
  banned: boolean;
}

/** Which nodes are wanted. An absent filter accepts all. */
export interface NodeFilter {
  nodeIds?: readonly string[] | undefined;
  changedAfter?: Date | undefined;
  includeBanned: boolean;
  accepts?: ((facet: NodeFacet) => boolean) | undefined;
}

export interface NodeRange {
  sort: readonly NodeSort[];
  offset: number;
  limit: number;
}

const listed = `FROM node WHERE status <> 'NodeStatusDeleted'`;
const facetColumns = 'supported_os, supported_accelerators, supported_app_version, banned';

/** Orders kept of one revision: 400 kB each with 100,000 nodes. */
const maxOrders = 32;

/**
 * The columns of all listed nodes at one revision that pages are filtered and sorted by. A node is known by its place in
 * the order of ids. Of a sort column only each node's rank is held: the database decides how values compare.
 */
export class NodeColumns {
  /** When the database was last known to have this revision, by `performance.now()`. */
  confirmedAtMs = 0;
  private readonly ranks = new Map<NodeSortColumn, Int32Array>();
  private readonly orders = new LRUCache<string, Int32Array>({ max: maxOrders });

  private constructor(
    readonly revision: string,
    private readonly ids: readonly string[],
    private readonly updatedMs: Float64Array,
    private readonly facetOf: Int32Array,
    private readonly facets: readonly NodeFacet[],
  ) {}

  static async read(read: Query, revision: string): Promise<NodeColumns> {
    const facets = await read<NodeFacet>(`
        SELECT coalesce(supported_os, '{}') AS "supportedOs", coalesce(supported_accelerators, '{}') AS "supportedAccelerators",
          supported_app_version AS "supportedAppVersion", banned
        FROM (SELECT DISTINCT ${facetColumns} ${listed} ORDER BY ${facetColumns}) AS facet`);
    return new NodeColumns(
      revision,
      await values(read, 'id'),
      new Float64Array(await values<number>(read, 'extract(epoch FROM updated_at) * 1000')),
      new Int32Array(await values<number>(read, `dense_rank() OVER (ORDER BY ${facetColumns}) - 1`)),
      facets,
    );
  }

  hasRanks(sort: readonly NodeSort[]): boolean {
    return sort.every(({ column }) => column === 'id' || this.ranks.has(column));
  }

  /** Reads ranks in the same snapshot as the other columns. A missing value sorts first, and last where the order is descending. */
  async readRanks(read: Query, columns: Iterable<NodeSortColumn>): Promise<void> {
    for (const column of columns) {
      if (column === 'id' || this.ranks.has(column)) continue;
      const expression = nodeSortExpressions[column];
      const ranks = await values<number>(read, `dense_rank() OVER (ORDER BY ${expression} NULLS FIRST) - 1`);
      this.ranks.set(column, new Int32Array(ranks));
    }
  }

  /** Forgets the ranks of all other columns. */
  keepRanks(columns: ReadonlySet<NodeSortColumn>): void {
    for (const column of this.ranks.keys()) if (!columns.has(column)) this.ranks.delete(column);
  }

  /** The ids of one page, and how many nodes pass the filter. */
  async page(
    { sort, offset, limit }: NodeRange,
    filter: NodeFilter,
  ): Promise<{ ids: string[]; total: number }> {
    const passes = this.test(filter);
    const ids: string[] = [];
    let total = 0;
    for (const place of await this.order(sort)) {
      if (!passes(place)) continue;
      if (total >= offset && ids.length < limit) ids.push(this.ids[place] ?? '');
      total += 1;
    }
    return { ids, total };
  }

  private test({ nodeIds, changedAfter, includeBanned, accepts }: NodeFilter): (place: number) => boolean {
    const accepted = this.facets.map(
      (facet) => (includeBanned || !facet.banned) && (accepts?.(facet) ?? true),
    );
    const afterMs = changedAfter?.getTime() ?? -Infinity;
    const wanted = nodeIds && new Set(nodeIds);
    return (place) =>
      accepted[this.facetOf[place] ?? -1] === true &&
      (this.updatedMs[place] ?? -Infinity) > afterMs &&
      (wanted?.has(this.ids[place] ?? '') ?? true);
  }

  /** The places of all nodes in an order. Every order ends in the id, so that pages never overlap. */
  private async order(sort: readonly NodeSort[]): Promise<Int32Array> {
    const end = sort.findIndex(({ column }) => column === 'id');
    const keys = end === -1 ? sort : sort.slice(0, end);
    const key = JSON.stringify([keys, sort[end]?.descending]);
    const kept = this.orders.get(key);
    if (kept !== undefined) return kept;
    const last = this.ids.length - 1;
    let order: Int32Array = new Int32Array(this.ids.length);
    for (let place = 0; place <= last; place += 1)
      order[place] = sort[end]?.descending ? last - place : place;
    for (const { column, descending } of keys.toReversed()) {
      const ranks = this.ranks.get(column);
      if (ranks === undefined) throw new Error(`The ranks of ${column} have not been read.`);
      order = sortedByRank(order, ranks, descending);
      // A column of 100,000 nodes takes milliseconds, in which nobody is answered.
      await nextTurn();
    }
    this.orders.set(key, order);
    return order;
  }
}

/** A value of each listed node, in the order of ids. */
async function values<Value = string>(read: Query, expression: string): Promise<Value[]> {
  const [row] = await read<{ values: Value[] | null }>(
    `SELECT json_agg(value ORDER BY id) AS values FROM (SELECT id, ${expression} AS value ${listed}) AS node`,
  );
  return row?.values ?? [];
}

/** A counting sort: stable, and linear in the number of nodes. Sorting by the last key first gives the order of all keys. */
function sortedByRank(order: Int32Array, ranks: Int32Array, descending: boolean): Int32Array {
  const { length } = order;
  // A descending order is an ascending one seen from its other end.
  const at = (index: number): number => (descending ? length - 1 - index : index);
  // There are no more ranks than nodes.
  const ends = new Int32Array(length);
  for (let place = 0; place < length; place += 1) {
    const rank = ranks[place] ?? 0;
    ends[rank] = (ends[rank] ?? 0) + 1;
  }
  for (let rank = 1; rank < length; rank += 1) ends[rank] = (ends[rank] ?? 0) + (ends[rank - 1] ?? 0);
  const sorted = new Int32Array(length);
  // From the last node to the first, each takes the last free place of its rank.
  for (let index = length - 1; index >= 0; index -= 1) {
    const place = order[at(index)] ?? 0;
    const rank = ranks[place] ?? 0;
    const end = (ends[rank] ?? 0) - 1;
    ends[rank] = end;
    sorted[at(end)] = place;
  }
  return sorted;
}
