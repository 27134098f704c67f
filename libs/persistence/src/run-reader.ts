import type { Bucket } from '#errors';
import { Inject, Injectable } from '@nestjs/common';
import { Database } from './database.js';
import type { Run } from './entities/run.entity.js';
import { Batches, byPlace } from './batches.js';
import type { Queryable } from './pools.js';
import {
  type FailureRow,
  failureOf,
  outboxRowOf,
  outputOf,
  type OutputRow,
  type PayloadBody,
  payloadBody,
  type PayloadRow,
  type RunFailure,
} from './run-facts.js';
import { DATABASE_OPTIONS, type RetentionSettings, tombstoneSeconds } from './settings.js';

/** The run is remembered but its result has expired, whether or not its row still exists. */
export type AgedOut = 'aged_out';

export interface RunState extends Pick<Run, 'stage' | 'outcome' | 'billedMicros' | 'progress' | 'call'> {
  bucket: Bucket | null;
  /** The number of runs of the workspace ahead of this one. Null once the run is dispatched. */
  position: number | null;
  /** The provider that serves the run, by its public name. Null if the model has only one. */
  server: string | null;
  /** Whether the run uses a key of its workspace. */
  ownKey: boolean;
}

/** The facts of a run that change while it is live. */
export type LiveState = Pick<RunState, 'stage' | 'bucket' | 'position' | 'progress'>;

export interface RunResult extends RunState {
  status: number | null;
  failure: RunFailure | null;
  dispatchedAt: Date | null;
  completedAt: Date | null;
  /** The `upstream` of the model’s row, at admission. */
  upstream: Record<string, string>;
  /** Null unless the run succeeded. */
  output: { mediaType: string; body: PayloadBody } | null;
  /** Whether the output contains the provider's own asset URLs. */
  providerUrls: boolean;
  /** The run is kept beyond its expiry, and links in its output may have expired. */
  isKept?: true;
}

const position = `CASE WHEN run.stage IN ('parked', 'ready') THEN (
    SELECT waiting_ahead(run.workspace_id, place) FROM outbox WHERE ${outboxRowOf('run')}
  ) END AS position`;

/** The age of the run by the database's clock; see `age_of`. The two periods are parameters 4 and 5. */
const age = 'age_of(completed_at, $4, $5) AS age';

interface Aged {
  age: 'kept' | AgedOut | 'gone';
}

type ResultRow = RunState &
  Pick<RunResult, 'status' | 'dispatchedAt' | 'completedAt' | 'upstream' | 'providerUrls'> &
  Aged &
  OutputRow & { failure: FailureRow | null };

/** Facts of a run for the answer to a call that joins it. */
interface FirstAnswer {
  origin: string;
  position: number;
  /** Whether the run is live and its caller gets the provider's events. */
  streams: boolean;
  ownKey: boolean;
}

/** A run, as a caller identifies it. */
interface RunName {
  workspaceId: string;
  model: string;
  runId: string;
}

/** Reads runs for their callers. It finds neither runs of other workspaces nor runs under a wrong model. */
@Injectable()
export class RunReader {
  private readonly periods: readonly [keptS: number, rememberedS: number];
  private readonly states = new Batches((runs: readonly RunName[]) => this.statesOf(runs));

  constructor(
    private readonly database: Database,
    @Inject(DATABASE_OPTIONS) settings: Pick<RetentionSettings, 'RESULT_RETENTION_SECONDS'>,
  ) {
    this.periods = [settings.RESULT_RETENTION_SECONDS, tombstoneSeconds];
  }

  async state(workspaceId: string, model: string, runId: string): Promise<RunState | AgedOut | null> {
    const row = await this.states.add({ workspaceId, model, runId });
    if (row?.age === 'kept') return row;
    return (
      (await this.kept(workspaceId, model, runId, { withBody: false })) ??
      this.remembered(workspaceId, model, runId)
    );
  }

  /** Reads the result of a run. Without `withBody`, an output stored in the database is not read. */
  async result(
    workspaceId: string,
    model: string,
    runId: string,
    { withBody = true } = {},
  ): Promise<RunResult | AgedOut | null> {
    const [row] = await this.database.reads.query<ResultRow>(
      `SELECT ${age}, stage, outcome, bucket, billed_micros::float AS "billedMicros", call, facts ->> 'server' AS server, facts ? 'ownKey' AS "ownKey", progress, status, failure,
          dispatched_at AS "dispatchedAt", completed_at AS "completedAt", facts -> 'upstream' AS upstream,
          media_type AS "mediaType", CASE WHEN $6 THEN body END AS body, stored_as AS "storedAs",
          provider_urls AS "providerUrls", ${position}
        FROM run LEFT JOIN payload ON payload.run_id = run.id AND payload.kind = 'output'
          AND run.stage = 'completed' AND age_of(completed_at, $4, $5) = 'kept'
        WHERE id = $1 AND workspace_id = $2 AND model = $3`,
      [runId, workspaceId, model, ...this.periods, withBody],
    );
    if (row?.age !== 'kept')
      return (
        (await this.kept(workspaceId, model, runId, { withBody })) ??
        this.remembered(workspaceId, model, runId)
      );
    return { ...row, failure: failureOf(row.failure), output: outputOf(row) };
  }

  /** Reads the input as the caller sent it, for a run of any model. */
  async input(
    workspaceId: string,
    runId: string,
    { withBody = true } = {},
  ): Promise<{ mediaType: string; body: PayloadBody } | AgedOut | null> {
    const [row] = await this.database.reads.query<Aged & PayloadRow & { mediaType: string }>(
      `SELECT ${age}, media_type AS "mediaType", CASE WHEN $6 THEN body END AS body, stored_as AS "storedAs"
        FROM run JOIN payload ON payload.run_id = run.id AND payload.kind = 'input'
        WHERE id = $1 AND workspace_id = $2 AND model = coalesce($3, model)`,
      [runId, workspaceId, null, ...this.periods, withBody],
    );
    if (row?.age !== 'kept') {
      const [kept] = await this.database.reads.query<PayloadRow & { mediaType: string }>(
        `SELECT media_type AS "mediaType", CASE WHEN $3 THEN body END AS body, stored_as AS "storedAs"
          FROM kept_run JOIN kept_payload USING (run_id) WHERE run_id = $1 AND workspace_id = $2 AND kind = 'input'`,
        [runId, workspaceId, withBody],
      );
      if (kept === undefined) return this.remembered(workspaceId, null, runId);
      return { mediaType: kept.mediaType, body: payloadBody(kept) };
    }
    return { mediaType: row.mediaType, body: payloadBody(row) };
  }

  /** The model of a run that is kept or remembered, or null. */
  async modelOf(workspaceId: string, runId: string): Promise<string | null> {
    const [row] = await this.database.reads.query<{ model: string }>(
      `SELECT model FROM run WHERE id = $1 AND workspace_id = $2
        UNION ALL
        SELECT model FROM audit_record WHERE run_id = $1 AND workspace_id = $2 AND age_of(completed_at, $3, $4) <> 'gone'`,
      [runId, workspaceId, ...this.periods],
    );
    return row?.model ?? null;
  }

  /** The run admitted with an idempotency key, and the hex SHA-256 of its request. Null if the key is free. */
  async admittedWith(
    workspaceId: string,
    key: string,
  ): Promise<{ runId: string; delivered: boolean; fingerprint: string } | null> {
    const [row] = await this.database.reads.query<{ runId: string; delivered: boolean; fingerprint: string }>(
      `SELECT run_id AS "runId", deliveries > 0 AS delivered, encode(fingerprint, 'hex') AS fingerprint
        FROM idempotency_key WHERE workspace_id = $1 AND key = $2 AND expires_at > router_now()`,
      [workspaceId, key],
    );
    return row ?? null;
  }

  /**
   * The facts needed to repeat the first answer to an idempotency key. They are kept at least as long as the key.
   */
  async admission(workspaceId: string, runId: string): Promise<FirstAnswer | null> {
    const [row] = await this.database.reads.query<FirstAnswer>(
      `SELECT call ->> 'origin' AS origin, admitted_position AS position, facts ? 'streams' AND stage <> 'completed' AS streams,
            facts ? 'ownKey' AS "ownKey"
          FROM run WHERE id = $1 AND workspace_id = $2
        UNION ALL
        SELECT origin, admitted_position, false, false FROM tombstone
          WHERE run_id = $1 AND workspace_id = $2 AND origin IS NOT NULL`,
      [runId, workspaceId],
    );
    return row ?? null;
  }

  /** Looks up each run separately, so that only its own partition is read. */
  private async statesOf(runs: readonly RunName[]): Promise<((RunState & Aged) | null)[]> {
    const rows = await this.database.reads.query<RunState & Aged & { nth: number }>(
      `SELECT nth::integer, found.*
        FROM unnest($1::uuid[], $2::uuid[], $3::text[]) WITH ORDINALITY AS named (run_id, space_id, model_id, nth)
        CROSS JOIN LATERAL (
          SELECT ${age}, stage, outcome, bucket, billed_micros::float AS "billedMicros", call,
            facts ->> 'server' AS server, facts ? 'ownKey' AS "ownKey", progress, ${position}
          FROM run WHERE id = named.run_id AND workspace_id = space_id AND model = model_id LIMIT 1
        ) AS found`,
      [
        runs.map(({ runId }) => runId),
        runs.map(({ workspaceId }) => workspaceId),
        runs.map(({ model }) => model),
        ...this.periods,
      ],
    );
    return byPlace(runs.length, rows).map((row) => row ?? null);
  }

  /** A kept run whose own row has expired. */
  private async kept(
    workspaceId: string,
    model: string,
    runId: string,
    { withBody }: { withBody: boolean },
  ): Promise<RunResult | null> {
    const [row] = await this.database.reads.query<
      OutputRow & Pick<RunResult, 'billedMicros' | 'dispatchedAt' | 'completedAt' | 'ownKey'>
    >(
      `SELECT audit_record.billed_micros::float AS "billedMicros", audit_record.dispatched_at AS "dispatchedAt",
          audit_record.completed_at AS "completedAt", audit_record.basis IS NOT DISTINCT FROM 'own_key' AS "ownKey", media_type AS "mediaType",
          CASE WHEN $4 THEN body END AS body, stored_as AS "storedAs"
        FROM kept_run JOIN audit_record USING (workspace_id, run_id)
          LEFT JOIN kept_payload ON kept_payload.run_id = kept_run.run_id AND kind = 'output'
        WHERE kept_run.run_id = $1 AND kept_run.workspace_id = $2 AND kept_run.model = $3`,
      [runId, workspaceId, model, withBody],
    );
    if (row === undefined) return null;
    return {
      stage: 'completed',
      outcome: 'succeeded',
      bucket: null,
      status: null,
      failure: null,
      position: null,
      progress: null,
      server: null,
      call: { requestId: runId, route: '', origin: '' },
      billedMicros: row.billedMicros,
      dispatchedAt: row.dispatchedAt,
      completedAt: row.completedAt,
      ownKey: row.ownKey,
      upstream: {},
      output: outputOf(row),
      providerUrls: false,
      isKept: true,
    };
  }

  private async remembered(...run: [string, string | null, string]): Promise<AgedOut | null> {
    return (await this.ageOf(...run)) === null ? null : 'aged_out';
  }

  /**
   * The age of a run, optionally only under the given model. Null if it is not remembered. One statement reads both
   * tables, so that a run whose row is being deleted is always found.
   */
  async ageOf(
    workspaceId: string,
    model: string | null,
    runId: string,
    on: Queryable = this.database.reads,
  ): Promise<'kept' | AgedOut | null> {
    const [row] = await on.query<Aged>(
      `SELECT ${age} FROM run WHERE id = $1 AND workspace_id = $2 AND model = coalesce($3, model)
        UNION ALL
        SELECT CASE age_of(completed_at, $4, $5) WHEN 'gone' THEN 'gone' ELSE 'aged_out' END
          FROM audit_record WHERE run_id = $1 AND workspace_id = $2 AND model = coalesce($3, model)
            AND NOT EXISTS (SELECT FROM run WHERE id = $1)`,
      [runId, workspaceId, model, ...this.periods],
    );
    return row === undefined || row.age === 'gone' ? null : row.age;
  }
}
