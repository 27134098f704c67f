import type { RegistryNode } from '#schemas';
import { Injectable } from '@nestjs/common';
import { Database } from '../database.js';
import { NodeColumns, type NodeRange, type NodeSortColumn } from './node-columns.js';
import { nodesById, type NodesById } from './nodes-by-id.js';

interface NodePageQuery extends NodeRange {
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

/** Reads the node registry: finds the nodes of a page in memory, and reads these from the database. */
@Injectable()
export class NodeReader {
  private columns: NodeColumns | undefined;
  private refreshing: Promise<void> | undefined;
  /** The columns that pages were sorted by since the last refresh began. */
  private sortedBy = new Set<NodeSortColumn>();

  constructor(private readonly database: Database) {}

  /** Throws `service_unavailable` while the database is away. */
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
    const found = row.nodes?.filter((node) => node !== null) ?? [];
    const nodes = found.map(({ facts, translations }) => (translations ? { ...facts, translations } : facts));
    return { revision: row.revision, nodes };
  }

  /** Replaces the columns when nodes have been written, and reads the ranks that are missing. */
  private async refresh(): Promise<void> {
    const startedMs = performance.now();
    const { columns: known, sortedBy } = this;
    this.sortedBy = new Set();
    const columns = await this.database.registry.snapshot((read) => NodeColumns.read(read, sortedBy, known));
    columns.confirmedAtMs = Math.max(columns.confirmedAtMs, startedMs);
    this.columns = columns;
  }
}
