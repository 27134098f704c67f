import type { Bucket } from '#errors';
import type { Attribution } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import { Database, operators } from './database.js';
import type { Webhook } from './entities/run.entity.js';
import { newestFirst, newestId } from './newest-first.js';
import type { Queryable } from './pools.js';
import {
  type FailureRow,
  failureOf,
  outputOf,
  type OutputRow,
  type PayloadBody,
  type RunFailure,
  type WebhookAttempt,
} from './run-facts.js';
import { DATABASE_OPTIONS, type RetentionSettings } from './settings.js';

/** A webhook whose call is due, with everything that its body needs. */
export interface DueWebhook extends Omit<
  Webhook,
  'bucket' | 'waiting' | 'dueAt' | 'endedAt' | 'delivered' | 'problem' | 'attempts' | 'payload'
> {
  bucket: Bucket | null;
  /** The secrets that sign the call, newest first. */
  secrets: string[];
  /** While the run is kept. */
  status: number | null;
  failure: RunFailure | null;
  dispatchedAt: Date | null;
  /** The `upstream` of the model’s row, at admission. */
  upstream: Record<string, string> | null;
  /** For log lines and traces, while the run is kept. */
  callId: string | null;
  provider: string | null;
  traceparent: string | null;
  /** The run's tags and end user, from its audit record. */
  attribution: Attribution | null;
  /** Only for a form that contains it. */
  output: { mediaType: string; body: PayloadBody } | null;
}

/** Identifies one call of a webhook. */
type WebhookTry = Pick<DueWebhook, 'runId' | 'tries' | 'redeliveries'>;

/** A call that was made, and the body that it sent: see `Webhook.payload`. */
export interface WebhookCall extends WebhookAttempt {
  payload: string | null;
}

export interface ListedWebhook extends Omit<
  Webhook,
  | 'workspaceId'
  | 'origin'
  | 'bucket'
  | 'receiver'
  | 'redeliveries'
  | 'waiting'
  | 'dueAt'
  | 'delivered'
  | 'attempts'
  | 'payload'
> {
  workspace: string;
  bucket: Bucket | null;
  state: keyof typeof states;
  /** Null once the webhook has ended. */
  dueAt: Date | null;
}

export type WebhookDetail = ListedWebhook & Pick<Webhook, 'attempts' | 'payload'>;

type DueRow = Omit<DueWebhook, 'output' | 'failure'> & OutputRow & { failure: FailureRow | null };

/** The row becomes due again after this time if the worker dies. No call takes this long. */
const callSeconds = 30;
const maxWaitSeconds = 600;

/** The calls that a webhook remembers. */
const maxAttempts = 8;

/** A workspace may send this many test events a minute. */
export const maxTestsPerMinute = 10;

/** The conditions match the partial index of undelivered webhooks. */
const states = {
  pending: 'NOT delivered AND ended_at IS NULL',
  delivered: 'delivered',
  given_up: 'NOT delivered AND ended_at IS NOT NULL',
} as const;

/** Adds a call to the remembered ones; the parameters hold it and its body. */
const remembered = (attempt: string, payload: string) =>
  `attempts = CASE WHEN jsonb_array_length(attempts) < ${maxAttempts} THEN attempts ELSE attempts - 0 END || jsonb_build_array(${attempt}::jsonb),
    payload = coalesce(${payload}, payload)`;

const state = `CASE WHEN ended_at IS NULL THEN 'pending' WHEN delivered THEN 'delivered' ELSE 'given_up' END`;

const listedColumns = `run_id AS "runId", workspace.name AS workspace, model, bucket, url, form, ${state} AS state, tries, problem, event,
  completed_at AS "completedAt", nullif(due_at, 'infinity') AS "dueAt", ended_at AS "endedAt"`;

/**
 * The calls that notify callers of completed runs. A webhook's row is its own outbox row, due until the webhook has
 * ended.
 */
@Injectable()
export class WebhookRepository {
  constructor(
    private readonly database: Database,
    @Inject(DATABASE_OPTIONS) private readonly periods: Pick<RetentionSettings, 'RESULT_RETENTION_SECONDS'>,
  ) {}

  /** Begins a call. Null if the webhook has ended. */
  begin(runId: string): Promise<DueWebhook | null> {
    return this.take('run_id = $1 AND ended_at IS NULL', [runId]);
  }

  /** Begins the call of the oldest webhook that waits for a slot of the receiver. Null if none waits. */
  takeWaitingWebhook(workspaceId: string, receiver: string): Promise<DueWebhook | null> {
    const oldest = `SELECT run_id FROM webhook WHERE workspace_id = $1 AND receiver = $2 AND waiting
      ORDER BY run_id LIMIT 1 FOR UPDATE SKIP LOCKED`;
    return this.take(`run_id = (${oldest})`, [workspaceId, receiver]);
  }

  /**
   * Makes the webhook wait for a slot in its row, without a job. If `isServed`, a worker is calling the receiver
   * and will take the waiting webhooks next, so the row becomes due only in case that worker dies. Otherwise other
   * webhooks of the workspace hold all slots.
   */
  async waitForSlot(runId: string, isServed: boolean): Promise<void> {
    await this.database.work.query(
      `UPDATE webhook SET waiting = true, due_at = router_now() + make_interval(secs => $2)
        WHERE run_id = $1 AND ended_at IS NULL`,
      [runId, isServed ? maxWaitSeconds : callSeconds],
    );
  }

  async delivered(
    { runId, redeliveries }: Omit<WebhookTry, 'tries'>,
    { payload, ...attempt }: WebhookCall,
  ): Promise<void> {
    await this.database.persist(
      `UPDATE webhook SET delivered = true, tries = tries + 1, ended_at = router_now(), due_at = 'infinity', waiting = false,
          ${remembered('$3', '$4')}
        WHERE run_id = $1 AND redeliveries = $2 AND NOT delivered`,
      [runId, redeliveries, JSON.stringify(attempt), payload],
      callSeconds * 1000,
    );
  }

  /**
   * Schedules the next attempt in `afterMs`, or gives up if it is null. False if another attempt ended first, or a
   * redelivery was requested meanwhile.
   */
  async failed(
    { runId, tries, redeliveries }: WebhookTry,
    { payload, ...attempt }: WebhookCall,
    afterMs: number | null,
  ): Promise<boolean> {
    const rows = await this.database.work.query(
      `UPDATE webhook SET tries = tries + 1, problem = $3,
          ended_at = CASE WHEN $4::integer IS NULL THEN router_now() END,
          due_at = coalesce(router_now() + $4 * interval '1 millisecond', 'infinity'), ${remembered('$6', '$7')}
        WHERE run_id = $1 AND tries = $2 AND redeliveries = $5 AND ended_at IS NULL RETURNING run_id`,
      [runId, tries, attempt.problem, afterMs, redeliveries, JSON.stringify(attempt), payload],
    );
    return rows.length === 1;
  }

  /** Starts the delivery again, with all attempts. False for an unknown webhook. */
  async redeliver(runId: string, workspaceId?: string, on: Queryable = this.database.work): Promise<boolean> {
    const rows = await on.query(
      `UPDATE webhook SET redeliveries = redeliveries + 1, tries = 0, delivered = false, ended_at = NULL, due_at = router_now(), waiting = false
        WHERE run_id = $1 AND workspace_id = coalesce($2, workspace_id) RETURNING run_id`,
      [runId, workspaceId],
    );
    return rows.length === 1;
  }

  /**
   * Makes a test event due, and returns its id. Null if the workspace has sent `maxTestsPerMinute`; a few more pass if
   * they are requested at the same instant.
   */
  async test(
    workspaceId: string,
    { url, receiver }: Pick<Webhook, 'url' | 'receiver'>,
  ): Promise<string | null> {
    const [row] = await this.database.work.query<{ runId: string }>(
      `INSERT INTO webhook (run_id, workspace_id, model, origin, completed_at, url, receiver, form, due_at, event)
        SELECT (left(v7_floor(router_now())::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
          $1, 'webhook.test', '', router_now(), $2, $3, 'standard', router_now(), '{"test": true}'
        WHERE (
          SELECT count(*) FROM webhook WHERE workspace_id = $1 AND run_id >= v7_floor(router_now() - interval '1 minute')
            AND model = 'webhook.test'
        ) < ${maxTestsPerMinute}
        RETURNING run_id AS "runId"`,
      [workspaceId, url, receiver],
    );
    return row?.runId ?? null;
  }

  async find(workspaceId: string, runId: string): Promise<WebhookDetail | null> {
    const [row] = await this.database.list<WebhookDetail>(
      workspaceId,
      `SELECT ${listedColumns}, attempts, payload FROM webhook JOIN workspace ON workspace.id = workspace_id
        WHERE run_id = $2 AND workspace_id = $1`,
      [workspaceId, runId],
    );
    return row ?? null;
  }

  /** Lists webhooks, newest first, starting after the run id `after`. */
  async list({
    workspaceId = null,
    runId = null,
    state: only,
    after = newestId,
    limit,
  }: {
    workspaceId?: string | null;
    runId?: string | null;
    state?: ListedWebhook['state'] | undefined;
    after?: string | undefined;
    limit: number;
  }): Promise<ListedWebhook[]> {
    const { where, orderBy } = newestFirst('run_id', workspaceId);
    return this.database.list<ListedWebhook>(
      workspaceId ?? operators,
      `SELECT ${listedColumns} FROM webhook JOIN workspace ON workspace.id = workspace_id
        WHERE ${where} AND ($3::uuid IS NULL OR run_id = $3) AND ${only === undefined ? 'true' : states[only]}
        ORDER BY ${orderBy} LIMIT $4`,
      [workspaceId, after, runId, limit],
    );
  }

  /** How long the oldest call that does not wait for its receiver has been due, in seconds. 0 if none is due. */
  async oldestDueSeconds(): Promise<number> {
    const [row] = await this.database.work.query<{ seconds: number }>(
      `SELECT greatest(0, coalesce(extract(epoch FROM router_now() - min(due_at)), 0))::float AS seconds
        FROM webhook WHERE ended_at IS NULL AND NOT waiting`,
    );
    return row?.seconds ?? 0;
  }

  private async take(which: string, values: unknown[]): Promise<DueWebhook | null> {
    const [row] = await this.database.work.query<DueRow>(
      `WITH due AS (
          UPDATE webhook SET waiting = false, due_at = router_now() + interval '${callSeconds} seconds'
          WHERE ${which} RETURNING *
        )
        SELECT due.run_id AS "runId", due.workspace_id AS "workspaceId", due.model, due.origin, due.bucket,
          due.completed_at AS "completedAt", url, receiver, form, tries, redeliveries, event,
          CASE WHEN webhook_secret_rotated_at > router_now() - interval '24 hours' THEN webhook_secrets
            ELSE webhook_secrets[1:1] END AS secrets,
          run.status, run.failure, run.dispatched_at AS "dispatchedAt", run.facts -> 'upstream' AS upstream, run.provider, run.facts ->> 'callId' AS "callId",
          run.facts ->> 'traceparent' AS traceparent, attribution, media_type AS "mediaType", body, stored_as AS "storedAs"
        FROM due JOIN workspace ON workspace.id = due.workspace_id
          -- A result that has expired is not sent, although its row may still exist.
          LEFT JOIN run ON run.id = due.run_id
            AND due.completed_at > router_now() - make_interval(secs => ${this.periods.RESULT_RETENTION_SECONDS})
          LEFT JOIN audit_record ON audit_record.workspace_id = due.workspace_id AND audit_record.run_id = due.run_id
          LEFT JOIN payload ON form <> 'standard' AND payload.run_id = run.id AND kind = 'output'`,
      values,
    );
    if (!row) return null;
    return { ...row, failure: failureOf(row.failure), output: outputOf(row) };
  }
}
