import { Injectable } from '@nestjs/common';
import { Batches, byPlace } from './batches.js';
import { Database } from './database.js';
import { rowsAhead } from './outbox.repository.js';

/** A due row that this worker has taken. */
export interface DueRow {
  queue: 'poll' | 'assets' | 'webhooks';
  runId: string;
  workspaceId: string;
  provider: string;
  /** How often the row was taken since it was last put back. More than once if a worker died or froze. */
  attempts: number;
  /** How long the row had been due. */
  lateMs: number;
}

type TakenRow = Pick<DueRow, 'queue' | 'runId' | 'workspaceId' | 'attempts'>;

interface PutOff extends TakenRow {
  delayMs: number;
}

/**
 * Part of the statement text, which is planned once: with an unknown limit the planner would assume a tenth of all
 * rows.
 */
const maxTaken = 100;
/** Webhooks become due this long after their run ends, to let a job go first. Without Redis there is no job. */
const jobsLead = `interval '500 milliseconds'`;

/**
 * Locks rows that are still taken by this worker. The values of `columnsOf` are the first parameters of the
 * statement.
 */
const mine = (ofLocked: 'SKIP LOCKED' | ''): string => `
          SELECT nth, workspace_id, run_id
          FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::integer[]) WITH ORDINALITY
            AS given (workspace_id, run_id, queue, attempts, nth)
            JOIN outbox USING (workspace_id, run_id, queue)
          WHERE outbox.attempts = given.attempts FOR NO KEY UPDATE OF outbox ${ofLocked}
        `;

const columnsOf = (rows: readonly TakenRow[]) => [
  rows.map(({ workspaceId }) => workspaceId),
  rows.map(({ runId }) => runId),
  rows.map(({ queue }) => queue),
  rows.map(({ attempts }) => attempts),
];

/**
 * The queues without Redis. A worker takes due rows, holds each under a lease, which is its `due_at`, and puts it
 * back. If the worker dies, the row becomes due when the lease ends. Taking a row increments `attempts`, which
 * identifies the holder of the lease. A statement that holds several rows never waits for another one.
 */
@Injectable()
export class DueRowRepository {
  private readonly backs = new Batches((rows: readonly PutOff[], waits) => this.putAllBack(rows, waits));

  constructor(private readonly database: Database) {}

  /** Takes the longest-overdue rows of the queues. `isFull` means that there may be more. */
  async take(
    queues: readonly DueRow['queue'][],
    leaseMs: number,
  ): Promise<{ rows: DueRow[]; isFull: boolean }> {
    const rows = await this.database.work.query<DueRow>(
      `WITH due AS MATERIALIZED (
          SELECT workspace_id, run_id, due_at FROM outbox
          WHERE due_at <= router_statement_now() AND queue = ANY($1::text[]) ORDER BY due_at LIMIT ${maxTaken} FOR UPDATE SKIP LOCKED
        ), runs AS (
          UPDATE outbox SET due_at = router_now() + $2 * interval '1 millisecond', attempts = least(attempts + 1, 1000)
          FROM due WHERE outbox.workspace_id = due.workspace_id AND outbox.run_id = due.run_id
          RETURNING queue::text, outbox.run_id, outbox.workspace_id, provider, attempts::integer, due.due_at
        ), due_webhooks AS MATERIALIZED (
          SELECT run_id, due_at FROM webhook
          WHERE ended_at IS NULL AND due_at <= router_statement_now() + ${jobsLead} AND 'webhooks' = ANY($1::text[])
          ORDER BY due_at LIMIT ${maxTaken} FOR UPDATE SKIP LOCKED
        ), webhooks AS (
          UPDATE webhook SET due_at = router_now() + $2 * interval '1 millisecond'
          FROM due_webhooks WHERE webhook.run_id = due_webhooks.run_id
          RETURNING 'webhooks', webhook.run_id, workspace_id, split_part(model, '/', 1), 1, due_webhooks.due_at
        ), ${rowsAhead(`${maxTaken}`)}
        SELECT queue, run_id AS "runId", workspace_id AS "workspaceId", provider, attempts,
          milliseconds_between(due_at, router_now()) AS "lateMs"
        FROM (SELECT * FROM runs UNION ALL SELECT * FROM webhooks) AS taken`,
      [queues, leaseMs],
    );
    const webhooks = rows.filter(({ queue }) => queue === 'webhooks').length;
    return { rows, isFull: webhooks === maxTaken || rows.length - webhooks === maxTaken };
  }

  /**
   * Makes the row due again in `delayMs`, unless the run ended, moved to another queue, or was taken by another
   * worker.
   */
  async putBack(row: TakenRow, delayMs: number): Promise<void> {
    if (row.queue !== 'webhooks')
      return void (await this.backs.add({ ...row, delayMs: Math.round(delayMs) }));
    await this.database.work.query(
      `UPDATE webhook SET due_at = router_now() + $2 * interval '1 millisecond'
        WHERE run_id = $1 AND ended_at IS NULL AND NOT waiting`,
      [row.runId, delayMs],
    );
  }

  /** Renews the leases that this worker still holds. Returns the ids of those runs. */
  async renew(rows: readonly TakenRow[], leaseMs: number): Promise<string[]> {
    const renewed = await this.database.work.query<{ runId: string }>(
      `WITH mine AS (${mine('SKIP LOCKED')})
        UPDATE outbox SET due_at = router_now() + $5 * interval '1 millisecond'
        FROM mine WHERE outbox.workspace_id = mine.workspace_id AND outbox.run_id = mine.run_id
        RETURNING outbox.run_id AS "runId"`,
      [...columnsOf(rows), leaseMs],
    );
    return renewed.map(({ runId }) => runId);
  }

  private async putAllBack(rows: readonly PutOff[], waits: boolean): Promise<(null | undefined)[]> {
    // Retry while the database is down: a row left to its lease would count as that of a dead worker.
    const back = await this.database.persist<{ nth: number }>(
      `WITH mine AS (${mine(waits ? '' : 'SKIP LOCKED')})
        UPDATE outbox SET due_at = router_now() + ($5::integer[])[nth] * interval '1 millisecond', attempts = 0
        FROM mine WHERE outbox.workspace_id = mine.workspace_id AND outbox.run_id = mine.run_id RETURNING nth::integer`,
      [...columnsOf(rows), rows.map(({ delayMs }) => delayMs)],
    );
    // After waiting for its lock, a missing row is no longer this worker's and needs nothing.
    return byPlace(rows.length, back).map((row) => (row || waits ? null : undefined));
  }
}
