import type { DataSource } from 'typeorm';
import { type NodeRecord, putNodes, type Written } from './put-nodes.js';

/** Operators' writing into the node registry. */
export class RegistryWriting {
  constructor(private readonly dataSource: DataSource) {}

  /** Writes the records, or nothing when one of them cannot be written. Each node and version stands there once. */
  async put(records: readonly NodeRecord[]): Promise<Written> {
    return this.within(records, 'commit');
  }

  /** What `put` would write; nothing is. */
  async tryPut(records: readonly NodeRecord[]): Promise<Written> {
    return this.within(records, 'rollback');
  }

  /**
   * After much was written: without fresh statistics, and the knowledge which pages everybody sees, the planner
   * would rather read the whole table than the middle of an index.
   */
  async settle(): Promise<void> {
    await this.dataSource.query(
      'VACUUM (ANALYZE) node, node_version, publisher, publisher_member, node_demand, node_tally',
    );
  }

  private async within(records: readonly NodeRecord[], end: 'commit' | 'rollback'): Promise<Written> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      const written = await putNodes(runner, records);
      if (end === 'commit') await runner.commitTransaction();
      return written;
    } finally {
      if (runner.isTransactionActive) await runner.rollbackTransaction();
      await runner.release();
    }
  }
}
