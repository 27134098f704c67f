import type { DataSource } from 'typeorm';
import { dropIndexesIfEmpty, ensureIndexes } from './indexes.js';
import { type NodeRecord, type PublisherColumns, publishersOf, putNodes, type Written } from './put-nodes.js';

/** Fewer written nodes are left to the database's own upkeep. */
const many = 1000;

/** Operators' writing into the node registry. */
export class RegistryWriting {
  private readonly lastPut = new Map<string, string>();

  constructor(private readonly dataSource: DataSource) {}

  /** Writes the records, or nothing when one of them cannot be written. Each node and version stands there once. */
  async put(records: readonly NodeRecord[]): Promise<Written> {
    // Every node of a publisher brings the same facts of it.
    const publishers = publishersOf(records).map((row) => ({ row, text: JSON.stringify(row) }));
    const news = publishers.filter(({ row, text }) => this.lastPut.get(row.id) !== text);
    const written = await this.within(
      'commit',
      records,
      news.map(({ row }) => row),
    );
    for (const { row, text } of news) this.lastPut.set(row.id, text);
    return written;
  }

  /** What `put` would write; nothing is. */
  async tryPut(records: readonly NodeRecord[]): Promise<Written> {
    return this.within('rollback', records, publishersOf(records));
  }

  /** Before many nodes are put; `settle` comes after them, whatever happens. */
  async begin(): Promise<void> {
    await dropIndexesIfEmpty(this.dataSource);
  }

  /**
   * After many nodes were put: without fresh statistics, and the knowledge which pages everybody sees, the planner
   * would rather read the whole table than the middle of an index.
   */
  async settle(written: number): Promise<void> {
    await ensureIndexes(this.dataSource);
    if (written >= many)
      await this.dataSource.query(
        'VACUUM (ANALYZE) node, node_kind, node_version, publisher, publisher_member',
      );
  }

  private async within(
    end: 'commit' | 'rollback',
    records: readonly NodeRecord[],
    publishers: readonly PublisherColumns[],
  ): Promise<Written> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      const written = await putNodes(runner, records, publishers);
      if (end === 'commit') await runner.commitTransaction();
      return written;
    } finally {
      if (runner.isTransactionActive) await runner.rollbackTransaction();
      await runner.release();
    }
  }
}
