import type { RegistryNode } from '#schemas';
import { Injectable } from '@nestjs/common';
import { Database } from '../database.js';
import { NodeColumns, type NodeFilter, type NodeRange, type NodeSortColumn } from './node-columns.js';
import { listedNode, nodesById, type NodesById } from './nodes-by-id.js';

interface NodePageQuery extends NodeRange, NodeFilter {
  /** How old the page may be. With 0 it shows everything that was written before it was asked for. */
  maxAgeMs: number;
}

interface NodePage {
  nodes: RegistryNode[];
  /** How many nodes there are on all pages. */
  total: number;
  /** The page shows everything that was written before, by `performance.now()`. */
  asOfMs: number;
}

/** While nodes are being written, reading the columns again takes about this share of the time; a refresh that is quick does not count. */
const refreshShare = 0.1;
const quickRefreshMs = 250;

/** A column that nobody has sorted by for so long is left out of the next refresh. */
const unusedMs = 60 * 60 * 1000;

/** Reads the node registry: finds the nodes of a page in memory, and reads these from the database. */
@Injectable()
export class NodeReader {
  private columns: NodeColumns | undefined;
  private refreshing: Promise<void> | undefined;
  private refreshMs = 0;
  private readonly sortedAtMs = new Map<NodeSortColumn, number>();

  constructor(private readonly database: Database) {}

  /** Throws `service_unavailable` while the database is away. */
  async page(query: NodePageQuery): Promise<NodePage> {
    const pauseMs = Math.max(this.refreshMs - quickRefreshMs, 0) / refreshShare;
    const oldestMs = performance.now() - Math.min(query.maxAgeMs, pauseMs);
    for (const { column } of query.sort) this.sortedAtMs.set(column, performance.now());
    for (;;) {
      const { columns } = this;
      if (columns?.hasRanks(query.sort)) {
        const { ids, total } = await columns.page(query, query);
        const askedMs = performance.now();
        const found = await this.nodes(ids, query.includeBanned);
        if (found.revision === columns.revision)
          columns.confirmedAtMs = Math.max(columns.confirmedAtMs, askedMs);
        if (columns.confirmedAtMs >= oldestMs)
          return { nodes: found.nodes, total, asOfMs: columns.confirmedAtMs };
      }
      // Another caller's refresh may have begun before this call, or lack a column: then there is another round.
      this.refreshing ??= this.refresh().finally(() => (this.refreshing = undefined));
      await this.refreshing;
    }
  }

  /** Nodes and the current revision are of the same snapshot. A node that no longer belongs on a page is left out. */
  private async nodes(
    ids: string[],
    includeBanned: boolean,
  ): Promise<{ revision: string; nodes: RegistryNode[] }> {
    const [row] = await this.database.registry.query<NodesById>(nodesById, [ids, includeBanned]);
    if (row === undefined) throw new Error('The table registry_revision has lost its row.');
    const nodes = row.nodes?.filter((node) => node !== null) ?? [];
    return { revision: row.revision, nodes: nodes.map(listedNode) };
  }

  /** Replaces the columns when nodes have been written, and reads the ranks that are missing, all in one snapshot. */
  private async refresh(): Promise<void> {
    const startedMs = performance.now();
    this.columns = await this.database.registry.snapshot(async (read) => {
      const [current] = await read<{ revision: string }>('SELECT revision FROM registry_revision');
      const revision = current?.revision ?? '';
      const kept = this.columns;
      const columns = kept?.revision === revision ? kept : await NodeColumns.read(read, revision);
      // The columns that were sorted by lately will be sorted by again.
      const lately = [...this.sortedAtMs].filter(([, atMs]) => startedMs - atMs < unusedMs);
      const wanted = new Set(lately.map(([column]) => column));
      await columns.readRanks(read, wanted);
      columns.keepRanks(wanted);
      columns.confirmedAtMs = Math.max(columns.confirmedAtMs, startedMs);
      return columns;
    });
    this.refreshMs = performance.now() - startedMs;
  }
}
