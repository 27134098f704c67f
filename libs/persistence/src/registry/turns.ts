import { advisoryLocks } from '../locks.js';
import type { DataSource, EntityManager } from 'typeorm';

/** Writers of the registry take turns, each until the end of its transaction. */
export const takeTurn = `SELECT pg_advisory_xact_lock(${advisoryLocks.registryWrite})`;

/** Does the work in a transaction of its own, when it is its turn. */
export const inTurn = <Result>(
  dataSource: DataSource,
  work: (manager: EntityManager) => Promise<Result>,
): Promise<Result> =>
  dataSource.transaction(async (manager) => {
    await manager.query(takeTurn);
    return work(manager);
  });
