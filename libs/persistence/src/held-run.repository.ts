import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { endingRow, type FinishedRun, type Granted } from './run-facts.js';
import type { LiveState } from './run-reader.js';

/** What a held call found when it stopped waiting. `pollAfterMs` is null while no handle is held. */
export type Released =
  | { found: 'completed'; granted: Granted[] }
  | { found: 'withdrawn'; granted: Granted[]; record: FinishedRun }
  | { found: 'going_on'; granted: Granted[]; pollAfterMs: number | null };

/** While the database is away, or all held calls of a gateway that stops want it at once. */
const releaseMs = 10_000;

/** What a held connection needs of the runs behind it. */
@Injectable()
export class HeldRunRepository {
  constructor(private readonly database: Database) {}

  /**
   * The states of the runs. One query for all watched runs of a gateway: places are numbered by walking each line once, since
   * counting what is ahead of each run took a second for 2,000 of them.
   */
  async statesOf(runIds: readonly string[]): Promise<(LiveState & { runId: string })[]> {
    return this.database.read<LiveState & { runId: string }>(
      `WITH followed AS MATERIALIZED (
          SELECT id, workspace_id, stage, bucket, progress FROM run WHERE id = ANY($1::uuid[])
        ), line AS (
          SELECT run_id, (row_number() OVER (PARTITION BY workspace_id ORDER BY place) - 1)::integer AS position
          FROM outbox WHERE NOT dispatched AND queue IN ('dispatch', 'backlog')
            AND workspace_id IN (SELECT workspace_id FROM followed WHERE stage IN ('parked', 'ready'))
        )
        SELECT id AS "runId", stage, bucket, progress,
          CASE WHEN stage IN ('parked', 'ready') THEN position END AS position
        FROM followed LEFT JOIN line ON run_id = id`,
      [runIds],
    );
  }

  /** A second time it answers what the first time has made of the run. */
  async release(runId: string, disconnected: boolean): Promise<Released> {
    const ending = endingRow({ outcome: 'cancelled' });
    const [row] = await this.database.persist<{ released: Released }>(
      'SELECT release_held_run($1, $2, $3) AS released',
      [runId, disconnected, ending],
      releaseMs,
    );
    if (!row) throw new Error('release_held_run answered nothing');
    return row.released;
  }

  /**
   * Counts a delivery of the key's result in full, or takes one back that was not read. Deliveries to other callers that
   * joined the run still count.
   */
  async countDelivery(workspaceId: string, key: string, runId: string, change: 1 | -1): Promise<void> {
    await this.database.write(
      `UPDATE idempotency_key SET deliveries = greatest(deliveries + $4::integer, 0)
        WHERE workspace_id = $1 AND key = $2 AND run_id = $3`,
      [workspaceId, key, runId, change],
    );
  }
}
