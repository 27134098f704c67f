import { v7 } from 'uuid';
import type { Database } from './database.js';
import type { ProcessRow } from './entities/operations.entity.js';

/**
 * The name of this process. A gateway's listening session has it, so that the database knows at once when the process is
 * gone.
 */
export const processName = `model-router ${v7()}`;

/** A process without a heartbeat for this long counts as stopped. */
const maxSilenceSeconds = 100;
export const aliveSince = `router_now() - interval '${maxSilenceSeconds} seconds'`;

export interface RunningProcess extends Pick<ProcessRow, 'host' | 'pid' | 'startedAt' | 'seenAt'> {
  app: 'gateway' | 'worker';
  /** The revision of its catalog. */
  revision: string;
  /** Why the catalog is not up to date. */
  problem: string | null;
}

/** The facts that workers report about a provider. */
export interface ProviderKey {
  provider: string;
  hasKey: boolean;
  /** Whether the simulator serves it to a worker. */
  simulated: boolean;
  /** The maximum number of concurrent submissions of the workers that have its key. */
  slots: number;
}

/**
 * For each provider: whether a worker has its key, whether the simulator serves it, and the maximum number of
 * concurrent submissions of the workers that have its key. It counts the live workers, or, for the key and the simulator, the last ones if none is alive. Empty until a worker has
 * reported.
 */
export async function providerKeys(database: Database): Promise<ProviderKey[]> {
  return database.reads.query(
    `WITH worker AS (
        SELECT providers, simulated, slots, seen_at > ${aliveSince} AS alive FROM process WHERE providers IS NOT NULL
      )
      SELECT key AS provider, bool_or(value::boolean) AS "hasKey",
        coalesce(bool_or(key = ANY (simulated)), false) AS simulated,
        coalesce(sum(slots) FILTER (WHERE alive AND value::boolean), 0)::integer AS slots
      FROM worker, jsonb_each(providers) WHERE alive OR NOT EXISTS (SELECT FROM worker WHERE alive) GROUP BY key`,
  );
}

/** The processes with a recent heartbeat. */
export async function runningProcesses(database: Database): Promise<RunningProcess[]> {
  return database.reads.query<RunningProcess>(
    `SELECT app, host, pid, started_at AS "startedAt", seen_at AS "seenAt", catalog_revision AS revision,
        catalog_problem AS problem
      FROM process WHERE seen_at > ${aliveSince} ORDER BY app, started_at, id`,
  );
}
