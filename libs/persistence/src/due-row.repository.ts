import { Injectable } from '@nestjs/common';
import { Batches } from './batches.js';
import { Database } from './database.js';
import { retryForMs } from './live-run.js';
import { rowsAhead } from './outbox.repository.js';

/** A row that this worker took because it was due. */
export interface DueRow {
  queue: 'poll' | 'assets' | 'webhooks';
  runId: string;
  workspaceId: string;
  provider: string;
  /** How often it was taken since it was last put back: more than once when a worker died or froze over it. */
  attempts: number;
  /** How long it had been due. */
  lateMs: number;
}

type TakenRow = Pick<DueRow, 'queue' | 'runId' | 'workspaceId' | 'attempts'>;

interface PutOff extends TakenRow {
  delayMs: number;
}

/** Written out in the statement, which is planned once: for an unknown limit the plan would expect a tenth of all rows. */
const maxTaken = 100;
/** A webhook falls due so long after its run, that a job may come first: here there is none. */
const jobsLead = `interval '500 milliseconds'`;

/** Locks rows that this worker has taken, and nobody after it: those of `columnsOf`, which are the first values of the statement. */
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
 * Without Redis the rows are the queues: a worker takes those that are due, holds each under a lease, which is its `due_at`,
 * and puts it back. The row of a worker that died falls due when the lease ends. Taking a row raises its `attempts`, which
 * say whose the lease is. No statement that holds several rows waits for another one.
 */
@Injectable()
export class DueRowRepository {
  private readonly backs = new Batches((rows: readonly PutOff[], waits) => this.putAllBack(rows, waits));

  constructor(private readonly database: Database) {}

  /** Takes the rows of the queues that have been due longest. `isFull`: there may be more. */
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

  /** The row is due again in `delayMs`, unless it has ended, came to another queue, or was taken by another worker. */
  async putBack(row: TakenRow, delayMs: number): Promise<void> {
    if (row.queue !== 'webhooks')
      return void (await this.backs.add({ ...row, delayMs: Math.round(delayMs) }));
    await this.database.work.query(
      `UPDATE webhook SET due_at = router_now() + $2 * interval '1 millisecond'
        WHERE run_id = $1 AND ended_at IS NULL AND NOT waiting`,
      [row.runId, delayMs],
    );
  }

  /** Renews the leases of runs, as far as they are still this worker's; answers with those. */
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
    // A row that were left to its lease for a database that is away would count as that of a worker that died.
    const back = await this.database.persist<{ nth: number }>(
      `WITH mine AS (${mine(waits ? '' : 'SKIP LOCKED')})
        UPDATE outbox SET due_at = router_now() + ($5::integer[])[nth] * interval '1 millisecond', attempts = 0
        FROM mine WHERE outbox.workspace_id = mine.workspace_id AND outbox.run_id = mine.run_id RETURNING nth::integer`,
      [...columnsOf(rows), rows.map(({ delayMs }) => delayMs)],
      retryForMs,
    );
    const places = new Set(back.map(({ nth }) => nth));
    // A row that was waited for and is not there needs nothing.
    return rows.map((_row, index) => (waits || places.has(index + 1) ? null : undefined));
  }
}
