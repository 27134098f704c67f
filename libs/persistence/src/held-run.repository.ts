import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { processName } from './processes.js';
import { endingRow, type FinishedRun, type Granted } from './run-facts.js';
import type { LiveState } from './run-reader.js';

/** The state of a run when its held call stopped waiting. `pollAfterMs` is null until a handle is saved. */
export type Released =
  | { found: 'completed'; granted: Granted[] }
  | { found: 'withdrawn'; granted: Granted[]; record: FinishedRun }
  | { found: 'going_on'; granted: Granted[]; pollAfterMs: number | null };

/**
 * How long to retry while the database is down, or while a stopping gateway releases all of its held calls at once.
 */
const releaseMs = 10_000;

/** Reads and writes runs for calls whose connections are held until the run ends. */
@Injectable()
export class HeldRunRepository {
  constructor(private readonly database: Database) {}

  /**
   * Reads the states of all watched runs of a gateway in one query. It numbers positions by walking each line once:
   * counting the runs ahead of each one took a second for 2,000 runs.
   */
  async statesOf(runIds: readonly string[]): Promise<(LiveState & { runId: string })[]> {
    return this.database.reads.query<LiveState & { runId: string }>(
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

  /** Releases the run of a held call. A second call returns the state that the first one left. */
  async releaseRun(runId: string, disconnected: boolean): Promise<Released> {
    const ending = endingRow({ outcome: 'cancelled' });
    const [row] = await this.database.persist<{ released: Released }>(
      'SELECT release_held_run($1, $2, $3) AS released',
      [runId, disconnected, ending],
      releaseMs,
    );
    if (!row) throw new Error('release_held_run returned no row');
    return row.released;
  }

  /** Records that a caller without a key got the result, so that an equal call no longer joins the run. */
  async forgetUnkeyed(runId: string): Promise<void> {
    await this.database.work.query('DELETE FROM unkeyed_call WHERE run_id = $1 AND held_by = $2', [
      runId,
      processName,
    ]);
  }

  /**
   * Leaves the result of a call without a key to equal calls: because its caller did not get it, even if its delivery was
   * recorded before, or because it is a failure. `attempt`: the number of the call that got the failure.
   */
  async leaveUnkeyed(
    workspaceId: string,
    fingerprint: string,
    runId: string,
    attempt: number | null = null,
  ): Promise<void> {
    await this.database.work.query(
      `INSERT INTO unkeyed_call (run_id, workspace_id, fingerprint, attempt) VALUES ($1, $2, decode($3, 'hex'), $5)
        ON CONFLICT (run_id) DO UPDATE SET held_by = NULL, attempt = excluded.attempt WHERE unkeyed_call.held_by = $4`,
      [runId, workspaceId, fingerprint, processName, attempt],
    );
  }

  /**
   * Counts a complete delivery of the key's result, or takes back one that was not read to its end. Deliveries to
   * other callers that joined the run still count.
   */
  async countDelivery(workspaceId: string, key: string, runId: string, change: 1 | -1): Promise<void> {
    await this.database.work.query(
      `UPDATE idempotency_key SET deliveries = greatest(deliveries + $4::integer, 0)
        WHERE workspace_id = $1 AND key = $2 AND run_id = $3`,
      [workspaceId, key, runId, change],
    );
  }
}
