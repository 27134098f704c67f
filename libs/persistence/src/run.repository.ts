import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import {
  Batches,
  type BatchResults,
  byPlace,
  joinedBodies,
  workspaceResults,
  workspaceRows,
} from './batches.js';
import { type ClaimedRun, type Copying, type Poll } from './live-run.js';
import type { Queryable } from './pools.js';
import {
  type Ending,
  endingRow,
  type FinishedRun,
  type Granted,
  jsonText,
  outboxRowOf,
  type PayloadBody,
  payloadBody,
  payloadColumns,
  type PayloadRow,
  type Used,
} from './run-facts.js';
import { type AgedOut, RunReader } from './run-reader.js';

/**
 * How long an outbox row waits while a job polls or copies. This is also how long lost jobs of an empty Redis stay
 * unnoticed. The first poll waits less, because its job may never have been enqueued if its worker died. Most runs
 * have finished by the second poll and never postpone their row.
 */
const pollRestMs = 30_000;
const firstPollRestMs = 12_000;
const copyRestMs = 2_000;

interface EndingRun extends ClaimedRun {
  /** The ending as JSON. */
  ending: string;
  body: Buffer | null;
  bytes: number;
}

interface Moved extends Pick<ClaimedRun, 'runId' | 'workspaceId'> {
  afterMs: number;
}

type Finished = { won: true; granted: Granted[]; record: FinishedRun } | { won: false; granted: Granted[] };

export type CancelAnswer =
  | { found: 'completed'; granted: Granted[] }
  | { found: 'waiting'; granted: Granted[]; record: FinishedRun }
  | { found: 'dispatched'; isRepeated: boolean; granted: Granted[] };

/**
 * Writes a run between its submission and its outcome. Each method is a compare-and-set that returns whether it
 * won.
 */
@Injectable()
export class RunRepository {
  private readonly pollReads = new Batches((runIds: readonly string[]) => this.readAllForPoll(runIds));
  private readonly moves = new Batches((rows: readonly Moved[], waits) => this.moveAll(rows, waits));
  private readonly endings = new Batches(
    (runs: readonly EndingRun[], waits) => this.finishAll(runs, waits),
    workspaceRows(Infinity),
  );

  constructor(
    private readonly database: Database,
    private readonly reader: RunReader,
  ) {}

  /** Saves the provider's handle. Returns whether a cancel was requested, or null if the claim was lost. */
  async saveHandle(
    runId: string,
    epoch: number,
    handle: unknown,
    afterMs: number,
    reportedMicros?: number,
  ): Promise<{ cancelRequested: boolean } | null> {
    const [row] = await this.database.persist<{ cancelRequested: boolean }>(
      `WITH saved AS (
          UPDATE run SET stage = 'running', handle = $3, poll_after_ms = greatest($4, coalesce(poll_after_ms, 0)),
            reported_micros = coalesce($5, reported_micros), lost_polls = 0, slow_readings = 0, crashes = 0, lease_until = NULL
          WHERE id = $1 AND epoch = $2 AND stage IN ('submitting', 'running')
          RETURNING id, workspace_id, cancel_requested_at IS NOT NULL AS cancel_requested
        ), moved AS (
          UPDATE outbox SET queue = 'poll', due_at = router_now() + ($4 + $6) * interval '1 millisecond'
          FROM saved WHERE ${outboxRowOf('saved')} AND attempts = 0
        )
        SELECT cancel_requested AS "cancelRequested" FROM saved`,
      [runId, epoch, jsonText(handle), afterMs, reportedMicros, this.database.hasJobs ? firstPollRestMs : 0],
    );
    return row ?? null;
  }

  /** Reads the facts that a poll needs. Null for an unknown run. */
  readForPoll(runId: string): Promise<Poll | null> {
    return this.pollReads.add(runId);
  }

  /**
   * Postpones the row of a run whose job is delayed by `afterMs` to well after that. Without jobs, the row's lease
   * does this.
   */
  async moveDue(run: Pick<ClaimedRun, 'runId' | 'workspaceId'>, afterMs: number): Promise<void> {
    if (this.database.hasJobs) await this.leaveToReconciler(run, afterMs + pollRestMs);
  }

  /**
   * Makes the row due in `afterMs`, because no job exists for the run and the reconciler has to find it. A row that
   * a worker has taken is put back by that worker instead.
   */
  async leaveToReconciler(
    { runId, workspaceId }: Pick<ClaimedRun, 'runId' | 'workspaceId'>,
    afterMs: number,
  ): Promise<void> {
    await this.moves.add({ runId, workspaceId, afterMs: Math.round(afterMs) });
  }

  /** Whether the caller has asked to cancel a run that was sent to its provider. */
  async isCancelRequested(runId: string): Promise<boolean> {
    const rows = await this.database.work.query(
      'SELECT FROM run WHERE id = $1 AND cancel_requested_at IS NOT NULL',
      [runId],
    );
    return rows.length === 1;
  }

  /** Records that the provider's cancel call was made, so that it is made only once. */
  async noteCancelSent(runId: string, epoch: number): Promise<boolean> {
    const rows = await this.database.work.query(
      `UPDATE run SET cancel_sent_at = router_now()
        WHERE id = $1 AND epoch = $2 AND stage = 'running' AND cancel_sent_at IS NULL RETURNING id`,
      [runId, epoch],
    );
    return rows.length === 1;
  }

  /**
   * Records how many times in a row the provider did not know the handle. Keeps the stored `progress` if none is
   * given.
   */
  async notePoll(runId: string, epoch: number, lostPolls: number, progress?: number): Promise<void> {
    await this.database.work.query(
      `UPDATE run SET lost_polls = $3, progress = coalesce($4, progress)
        WHERE id = $1 AND epoch = $2 AND stage = 'running'`,
      [runId, epoch, lostPolls, progress],
    );
  }

  async noteSlowReading(runId: string, epoch: number): Promise<void> {
    await this.database.work.query(
      `UPDATE run SET slow_readings = slow_readings + 1 WHERE id = $1 AND epoch = $2 AND stage = 'running'`,
      [runId, epoch],
    );
  }

  /**
   * Counts a poll or a copy before it begins, if the worker may have died during the previous one. `forgetCrashes`
   * resets the count when it returns, so the count is the number of attempts that never returned.
   */
  async noteAttempt(runId: string, epoch: number): Promise<void> {
    await this.database.work.query(
      `UPDATE run SET crashes = crashes + 1 WHERE id = $1 AND epoch = $2 AND stage IN ('running', 'copying')`,
      [runId, epoch],
    );
  }

  async forgetCrashes(runId: string, epoch: number): Promise<void> {
    await this.database.work.query(
      `UPDATE run SET crashes = 0 WHERE id = $1 AND epoch = $2 AND stage IN ('running', 'copying') AND crashes > 0`,
      [runId, epoch],
    );
  }

  /** Stores the output of a paid run unchanged. Its assets are copied next. False if the claim was lost. */
  async keepOutput(
    runId: string,
    epoch: number,
    mediaType: string,
    body: PayloadBody,
    reportedMicros?: number,
  ): Promise<boolean> {
    const [row] = await this.database.persist<{ kept: boolean }>(
      `SELECT keep_output($1, $2, $3, $4, $5, $6, $7 * interval '1 millisecond') AS kept`,
      [
        runId,
        epoch,
        mediaType,
        ...payloadColumns(body),
        reportedMicros,
        this.database.hasJobs ? copyRestMs : 0,
      ],
    );
    return row?.kept ?? false;
  }

  /** Reads the facts that copying a run's assets needs. Null if there is nothing left to copy. */
  async readForCopying(runId: string): Promise<Copying | null> {
    const [row] = await this.database.work.query<Copying & PayloadRow>(
      `SELECT run.epoch, run.workspace_id AS "workspaceId", run.provider, run.model, run.facts, run.crashes, run.provider_key AS "providerKey",
          coalesce(run.deadline_at <= router_now(), true) AS overdue, media_type AS "mediaType", body, stored_as AS "storedAs"
        FROM run JOIN payload ON payload.run_id = run.id AND payload.kind = 'output'
        WHERE run.id = $1 AND run.stage = 'copying'`,
      [runId],
    );
    return row === undefined ? null : { ...row, body: payloadBody(row) };
  }

  /**
   * Writes the outcome: the only terminal write. `won` is false if the run already has an outcome or the claim was
   * lost.
   */
  finishRun(run: ClaimedRun, ending: Ending, used?: Used): Promise<Finished> {
    const [body] = ending.outcome === 'succeeded' ? payloadColumns(ending.body) : [null];
    const bytes = body?.length ?? 0;
    return this.endings.add({ ...run, ending: endingRow(ending, used), body, bytes });
  }

  /** Cancels a waiting run. For a submitted run, records the request. */
  async requestCancel(
    workspaceId: string,
    model: string,
    runId: string,
    on: Queryable = this.database.work,
  ): Promise<CancelAnswer | AgedOut | null> {
    const [row] = await on.query<{ answer: CancelAnswer | null }>(
      'SELECT request_cancel($1, $2, $3, $4) AS answer',
      [workspaceId, model, runId, endingRow({ outcome: 'cancelled' })],
    );
    const answer = row?.answer ?? null;
    if (answer !== null && answer.found !== 'completed') return answer;
    const age = await this.reader.ageOf(workspaceId, model, runId, on);
    return age === 'kept' ? answer : age;
  }

  private async finishAll(runs: readonly EndingRun[], waits: boolean): Promise<BatchResults<Finished>> {
    const { places, joined } = joinedBodies(runs.map(({ body }) => body));
    const entries = runs.map(({ runId, epoch, ending }, nth) => {
      const head = JSON.stringify({ runId, epoch, ...places[nth] });
      return `${head.slice(0, -1)},"ending":${ending}}`;
    });
    const rows = await this.database.persist<{ results: (Finished | null)[] }>(
      'SELECT finish_all($1, $2, $3, $4) AS results',
      [runs.map(({ workspaceId }) => workspaceId), `[${entries.join()}]`, joined, waits],
    );
    return workspaceResults(rows, waits);
  }

  /** Looks up each run separately, so that only its own partition is read. */
  private async moveAll(rows: readonly Moved[], waits: boolean): Promise<(null | undefined)[]> {
    const moved = await this.database.work.query<{ nth: number }>(
      `WITH mine AS (
          SELECT nth, workspace_id, run_id, after_ms
          FROM unnest($1::uuid[], $2::uuid[], $3::integer[]) WITH ORDINALITY AS given (workspace_id, run_id, after_ms, nth)
            JOIN outbox USING (workspace_id, run_id)
          WHERE attempts = 0 FOR NO KEY UPDATE OF outbox ${waits ? '' : 'SKIP LOCKED'}
        )
        UPDATE outbox SET due_at = router_now() + after_ms * interval '1 millisecond'
        FROM mine WHERE outbox.workspace_id = mine.workspace_id AND outbox.run_id = mine.run_id RETURNING nth::integer`,
      [
        rows.map(({ workspaceId }) => workspaceId),
        rows.map(({ runId }) => runId),
        rows.map(({ afterMs }) => afterMs),
      ],
    );
    // After waiting for its lock, a missing row needs nothing: the run has ended, or a worker has taken the row.
    return byPlace(rows.length, moved).map((row) => (row || waits ? null : undefined));
  }

  private async readAllForPoll(runIds: readonly string[]): Promise<(Poll | null)[]> {
    const rows = await this.database.work.query<Poll & { nth: number }>(
      `SELECT nth::integer, found.*
        FROM unnest($1::uuid[]) WITH ORDINALITY AS each (polled_id, nth) CROSS JOIN LATERAL (
          SELECT run.stage, run.epoch, run.workspace_id AS "workspaceId", run.provider, run.model, run.facts, run.handle, run.provider_key AS "providerKey",
            run.reported_micros::float AS "reportedMicros", run.deadline_at <= router_now() AS overdue,
            milliseconds_left(run.deadline_at) AS "leftMs",
            run.cancel_requested_at IS NOT NULL AND run.cancel_sent_at IS NULL AS "cancelDue",
            run.cancel_requested_at IS NOT NULL AS "cancelRequested", run.lost_polls AS "lostPolls", run.slow_readings AS "slowReadings", run.progress, run.crashes,
            greatest(paused_ms(line_of(run.provider, run.workspace_id, run.facts), 'poll'), (
              SELECT nullif(milliseconds_left(polls_after), -1) FROM provider_key
              WHERE provider_key.provider = run.provider AND name = run.provider_key
            )) AS "pausedMs",
            outbox.attempts = 0 AND outbox.due_at < router_now() + interval '10 seconds' AS "dueSoon"
          FROM run LEFT JOIN outbox ON ${outboxRowOf('run')} WHERE run.id = polled_id LIMIT 1
        ) AS found`,
      [runIds],
    );
    return byPlace(runIds.length, rows).map((row) => row ?? null);
  }
}
