import type { RegistryNode } from '#schemas';
import { Injectable } from '@nestjs/common';
import { Database } from '../database.js';
import { NodeColumns, type NodeRange, type NodeSortColumn } from './node-columns.js';
import { nodesById, type NodesById } from './nodes-by-id.js';

interface NodePageQuery extends NodeRange {
  /** The maximum age of the page. With 0 it shows everything that was written before the call. */
  maxAgeMs: number;
}

interface NodePage {
  nodes: RegistryNode[];
  /** The number of nodes on all pages. */
  total: number;
  /** The page shows everything that was written before this time, by `performance.now()`. */
  asOfMs: number;
}

/** Reads the node registry: finds the nodes of a page in memory, then reads them from the database. */
@Injectable()
export class NodeReader {
  private columns: NodeColumns | undefined;
  private refreshing: Promise<void> | undefined;
  /** The sort columns used since the last refresh began. */
  private sortedBy = new Set<NodeSortColumn>();

  constructor(private readonly database: Database) {}

  /** Reads one page. Throws `service_unavailable` while the database is down. */
  async page(query: NodePageQuery): Promise<NodePage> {
    const oldestMs = performance.now() - query.maxAgeMs;
    for (;;) {
      const { columns } = this;
      for (const { column } of query.sort) this.sortedBy.add(column);
      const found = await columns?.page(query);
      if (columns && found) {
        const askedMs = performance.now();
        const { revision, nodes } = await this.nodes(found.ids, query.includeBanned);
        if (revision === columns.revision) columns.confirmedAtMs = Math.max(columns.confirmedAtMs, askedMs);
        if (columns.confirmedAtMs >= oldestMs)
          return { nodes, total: found.total, asOfMs: columns.confirmedAtMs };
      }
      // Another caller's refresh may have begun before this call, or may lack a column. Then the loop runs again.
      this.refreshing ??= this.refresh().finally(() => (this.refreshing = undefined));
      await this.refreshing;
    }
  }

  /**
   * Reads the nodes and the current revision in one snapshot. Leaves out nodes that no longer belong on the page.
   */
  private async nodes(
    ids: string[],
    includeBanned: boolean,
  ): Promise<{ revision: string; nodes: RegistryNode[] }> {
    const [row] = await this.database.registry.query<NodesById>(nodesById, [ids, includeBanned]);
    if (row === undefined) throw new Error('The table registry_revision has no row.');
    const found = row.nodes?.filter((node) => node !== null) ?? [];
    const nodes = found.map(({ facts, translations }) => (translations ? { ...facts, translations } : facts));
    return { revision: row.revision, nodes };
  }

  /** Replaces the columns if nodes have been written, and reads missing ranks. */
  private async refresh(): Promise<void> {
    const startedMs = performance.now();
    const { columns: known, sortedBy } = this;
    this.sortedBy = new Set();
    const columns = await this.database.registry.snapshot((read) => NodeColumns.read(read, sortedBy, known));
    columns.confirmedAtMs = Math.max(columns.confirmedAtMs, startedMs);
    this.columns = columns;
  }
}
