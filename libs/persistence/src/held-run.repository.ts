import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { endingRow, type FinishedRun, type Granted } from './run-facts.js';
import type { LiveState } from './run-reader.js';

/** The state of a run when its held call stopped waiting. `pollAfterMs` is null while no handle is held. */
export type Released =
  | { found: 'completed'; granted: Granted[] }
  | { found: 'withdrawn'; granted: Granted[]; record: FinishedRun }
  | { found: 'going_on'; granted: Granted[]; pollAfterMs: number | null };

/** While the database is away, or all held calls of a gateway that stops want it at once. */
const releaseMs = 10_000;

/** Reads and writes runs for the connections that are held until they end. */
@Injectable()
export class HeldRunRepository {
  constructor(private readonly database: Database) {}

  /** Picks the runs that have their outcome. One query for all held calls of a gateway. */
  async completedOf(runIds: readonly string[]): Promise<string[]> {
    const rows = await this.database.reads.query<{ id: string }>(
      `SELECT id FROM run WHERE id = ANY($1::uuid[]) AND stage = 'completed'`,
      [runIds],
    );
    return rows.map((row) => row.id);
  }

  /**
   * Where the runs stand. One query for all streams of a gateway: places are numbered by walking each line once, since
   * counting what is ahead of each run took a second for 2,000 of them.
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

  /** A second time it answers what the first time has made of the run. */
  async releaseRun(runId: string, disconnected: boolean): Promise<Released> {
    const ending = endingRow({ outcome: 'cancelled' });
    const [row] = await this.database.persist<{ released: Released }>(
      'SELECT release_held_run($1, $2, $3) AS released',
      [runId, disconnected, ending],
      releaseMs,
    );
    if (!row) throw new Error('release_held_run answered nothing');
    return row.released;
  }

  /** The key's result is about to have gone out in full. */
  async noteDelivered(workspaceId: string, key: string, runId: string): Promise<void> {
    await this.database.work.query(
      `UPDATE idempotency_key SET deliveries = deliveries + 1, delivered_at = router_now()
        WHERE workspace_id = $1 AND key = $2 AND run_id = $3`,
      [workspaceId, key, runId],
    );
  }

  /** How often the key's result has gone out, or is going out; `fresh`: so recently that one may still be taken back. */
  async deliveries(
    workspaceId: string,
    key: string,
    runId: string,
  ): Promise<{ deliveries: number; fresh: boolean }> {
    const [row] = await this.database.work.query<{ deliveries: number; fresh: boolean }>(
      `SELECT deliveries, delivered_at > router_now() - interval '500 milliseconds' AS fresh
        FROM idempotency_key WHERE workspace_id = $1 AND key = $2 AND run_id = $3`,
      [workspaceId, key, runId],
    );
    return row ?? { deliveries: 0, fresh: false };
  }

  /** The delivery that was noted did not come to its end. Those to other callers that joined the run still count. */
  async takeBackDelivered(workspaceId: string, key: string, runId: string): Promise<void> {
    await this.database.work.query(
      `UPDATE idempotency_key SET deliveries = deliveries - 1
        WHERE workspace_id = $1 AND key = $2 AND run_id = $3 AND deliveries > 0`,
      [workspaceId, key, runId],
    );
  }
}
