import type { DataSource } from 'typeorm';
import { dropPartsIfEmpty, ensureParts } from './late-parts.js';
import {
  type NodeRecord,
  type Prepared,
  prepareNodes,
  type PublisherColumns,
  putNodes,
  type Written,
} from './put-nodes.js';

/** Fewer written nodes are left to the database's own upkeep. */
const many = 1000;

type End = 'commit' | 'rollback';

/** Operators' writing into the node registry. */
export class RegistryWriting {
  private readonly lastPut = new Map<string, string>();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Prepares the records, which takes long and can be done while others are being written. The result writes them, or
   * nothing when one of them cannot be written; with `rollback` it only tells what would be written. Each node and
   * version stands there once.
   */
  prepare(records: readonly NodeRecord[], end: End = 'commit'): () => Promise<Written> {
    const prepared = prepareNodes(records);
    if (end === 'commit') return () => this.commit(prepared);
    return () => this.within(end, prepared, prepared.publishers);
  }

  /** Before many nodes are written; `settle` comes after them, whatever happens. */
  async begin(): Promise<void> {
    await dropPartsIfEmpty(this.dataSource);
  }

  /**
   * After many nodes were written: without fresh statistics, and the knowledge which pages everybody sees, the planner
   * would rather read the whole table than the middle of an index.
   */
  async settle(written: number): Promise<void> {
    await ensureParts(this.dataSource);
    if (written >= many)
      await this.dataSource.query(
        'VACUUM (ANALYZE) node, node_kind, node_version, publisher, publisher_member',
      );
  }

  private async commit(prepared: Prepared): Promise<Written> {
    // Every node of a publisher brings the same facts of it.
    const publishers = prepared.publishers.map((row) => ({ row, text: JSON.stringify(row) }));
    const news = publishers.filter(({ row, text }) => this.lastPut.get(row.id) !== text);
    const rows = news.map(({ row }) => row);
    const written = await this.within('commit', prepared, rows);
    for (const { row, text } of news) this.lastPut.set(row.id, text);
    return written;
  }

  private async within(
    end: End,
    prepared: Prepared,
    publishers: readonly PublisherColumns[],
  ): Promise<Written> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      const written = await putNodes(runner, prepared, publishers);
      if (end === 'commit') await runner.commitTransaction();
      return written;
    } finally {
      if (runner.isTransactionActive) await runner.rollbackTransaction();
      await runner.release();
    }
  }
}
