import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Query } from '../pools.js';

/** An operator's decision about a node overrides the node's record. */
export const listedStatusDetail = `CASE WHEN moderated_status IS NULL THEN status_detail ELSE moderated_detail END`;

/** The sort columns of pages by their public names, and the SQL expression that Postgres compares. */
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
  // These columns have the default collation. "C" gives the same order on every machine.
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

/** The properties that filters test. Few distinct combinations exist, so a filter tests each combination once. */
export interface NodeFacet {
  supportedOs: readonly string[];
  supportedAccelerators: readonly string[];
  supportedAppVersion: string | null;
  banned: boolean;
}

/** Restricts the nodes. An absent member accepts all. */
export interface NodeFilter {
  nodeIds?: readonly string[] | undefined;
  changedAfter?: Date | undefined;
  includeBanned: boolean;
  accepts?: ((facet: NodeFacet) => boolean) | undefined;
}

export interface NodeRange extends NodeFilter {
  sort: readonly NodeSort[];
  offset: number;
  limit: number;
}

const listed = `FROM node WHERE status <> 'NodeStatusDeleted'`;
const facetColumns = 'supported_os, supported_accelerators, supported_app_version, banned';

/**
 * The filter and sort columns of all listed nodes at one revision. A node is identified by its position in the
 * order of ids. For a sort column only the rank of each node is stored, because the database decides how values
 * compare.
 */
export class NodeColumns {
  /** When the database was last known to be at this revision, by `performance.now()`. */
  confirmedAtMs = 0;
  private readonly ranks = new Map<NodeSortColumn, Int32Array>();

  private constructor(
    readonly revision: string,
    private readonly ids: readonly string[],
    private readonly updatedMs: Float64Array,
    private readonly facetOf: Int32Array,
    private readonly facets: readonly NodeFacet[],
  ) {
    this.ranks.set('id', Int32Array.from(ids.keys()));
  }

  /**
   * Reads the columns, and the ranks of the sort columns, in one snapshot. Reuses `known` if the revision is
   * unchanged.
   */
  static async read(
    read: Query,
    sortColumns: Iterable<NodeSortColumn>,
    known: NodeColumns | undefined,
  ): Promise<NodeColumns> {
    const [current] = await read<{ revision: string }>('SELECT revision FROM registry_revision');
    const revision = current?.revision ?? '';
    const columns = known?.revision === revision ? known : await this.readAll(read, revision);
    for (const column of sortColumns) {
      if (columns.ranks.has(column)) continue;
      const ranks = await values<number>(read, rankBy(`${nodeSortExpressions[column]} NULLS FIRST`));
      columns.ranks.set(column, new Int32Array(ranks));
    }
    return columns;
  }

  private static async readAll(read: Query, revision: string): Promise<NodeColumns> {
    const facets = await read<NodeFacet>(`
        SELECT coalesce(supported_os, '{}') AS "supportedOs", coalesce(supported_accelerators, '{}') AS "supportedAccelerators",
          supported_app_version AS "supportedAppVersion", banned
        FROM (SELECT DISTINCT ${facetColumns} ${listed} ORDER BY ${facetColumns}) AS facet`);
    return new NodeColumns(
      revision,
      await values(read, 'id'),
      new Float64Array(await values<number>(read, 'extract(epoch FROM updated_at) * 1000')),
      new Int32Array(await values<number>(read, rankBy(facetColumns))),
      facets,
    );
  }

  /**
   * The ids of one page, and the number of nodes that pass the filter. Undefined if the ranks of a sort column are
   * missing. Every order ends with the id, so that pages never overlap.
   */
  async page({
    sort,
    offset,
    limit,
    ...filter
  }: NodeRange): Promise<{ ids: string[]; total: number } | undefined> {
    const passes = this.test(filter);
    const found = new Int32Array(this.ids.length);
    let total = 0;
    // `Int32Array.prototype.filter` takes ten times as long.
    for (let place = 0; place < found.length; place += 1)
      if (passes(place)) {
        found[total] = place;
        total += 1;
      }
    let places = found.subarray(0, total);
    for (const { column, descending } of sort.toReversed()) {
      const ranks = this.ranks.get(column);
      if (ranks === undefined) return undefined;
      places = sortedByRank(places, ranks, descending);
      // Sorting 100,000 nodes by one column blocks the event loop for milliseconds.
      await nextTurn();
    }
    const ids = Array.from(places.subarray(offset, offset + limit), (place) => this.ids[place] ?? '');
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
}

/** The rank of each node by the columns, from 0. Equal values have equal ranks. */
const rankBy = (columns: string): string => `dense_rank() OVER (ORDER BY ${columns}) - 1`;

/** The value of an expression for each listed node, in the order of ids. */
async function values<Value = string>(read: Query, expression: string): Promise<Value[]> {
  const [row] = await read<{ values: Value[] | null }>(
    `SELECT json_agg(value ORDER BY id) AS values FROM (SELECT id, ${expression} AS value ${listed}) AS node`,
  );
  return row?.values ?? [];
}

/**
 * A counting sort: stable, and linear in the number of nodes. To sort by several keys, call it with the last key
 * first.
 */
function sortedByRank(places: Int32Array, ranks: Int32Array, descending: boolean): Int32Array<ArrayBuffer> {
  const last = ranks.length - 1;
  const rankOf = (place: number): number => (descending ? last - (ranks[place] ?? 0) : (ranks[place] ?? 0));
  // The target index of the next node of each rank. There are at most as many ranks as nodes.
  const next = new Int32Array(ranks.length + 1);
  for (const place of places) next[rankOf(place) + 1] = (next[rankOf(place) + 1] ?? 0) + 1;
  for (let rank = 1; rank <= last; rank += 1) next[rank] = (next[rank] ?? 0) + (next[rank - 1] ?? 0);
  const sorted = new Int32Array(places.length);
  for (const place of places) {
    const index = next[rankOf(place)] ?? 0;
    sorted[index] = place;
    next[rankOf(place)] = index + 1;
  }
  return sorted;
}
