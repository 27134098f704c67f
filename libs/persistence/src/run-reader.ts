import type { Bucket } from '#errors';
import { Inject, Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { byPlace, gathered } from './gathered.js';
import { rowOf } from './outbox-row.js';
import {
  type AdmittingCall,
  endingRow,
  type FailureRow,
  failureOf,
  type FinishedRun,
  type Granted,
  type PayloadBody,
  payloadBody,
  type PayloadRow,
  type RunFailure,
  type Stage,
} from './run-facts.js';
import { DATABASE_OPTIONS, type RetentionSettings, tombstoneSeconds } from './settings.js';

/** The run is remembered, its result is not: whether its row is still there makes no difference. */
export type AgedOut = 'aged_out';

export interface RunState {
  stage: Stage;
  outcome: 'succeeded' | 'failed' | 'cancelled' | null;
  bucket: Bucket | null;
  /** What was billed for it; null until it is completed. */
  billedMicros: number | null;
  /** Runs of the workspace ahead of this one; null once dispatched. */
  position: number | null;
  /** How far the provider is, as a share of 1; null where it does not say. */
  progress: number | null;
  /** Who serves it, by the name that callers know; null where only one could. */
  server: string | null;
  call: AdmittingCall;
}

/** What changes in the life of a run. */
export type LiveState = Pick<RunState, 'stage' | 'bucket' | 'position' | 'progress'>;

export interface RunResult extends RunState {
  status: number | null;
  failure: RunFailure | null;
  /** Of a run that succeeded. */
  output: { mediaType: string; body: PayloadBody } | null;
  /** The output holds asset URLs of the provider's own. */
  providerUrls: boolean;
}

export type CancelAnswer =
  | { found: 'completed'; granted: Granted[] }
  | { found: 'waiting'; granted: Granted[]; record: FinishedRun }
  | { found: 'dispatched'; isRepeated: boolean; granted: Granted[] };

const position = `CASE WHEN run.stage IN ('parked', 'ready') THEN (
    SELECT waiting_ahead(run.workspace_id, place) FROM outbox WHERE ${rowOf('run')}
  ) END AS position`;

/** How old the run is, by the database's clock; see `age_of`. The two periods are parameters 4 and 5. */
const age = 'age_of(completed_at, $4, $5) AS age';

interface Aged {
  age: 'kept' | AgedOut | 'gone';
}

type ResultRow = RunState &
  Pick<RunResult, 'status' | 'providerUrls'> &
  Aged &
  PayloadRow & { mediaType: string | null; failure: FailureRow | null };

/** A run as its caller names it. */
interface RunName {
  workspaceId: string;
  model: string;
  runId: string;
}

/** What callers request of their runs. Another workspace's run, or one under a wrong model, is not found. */
@Injectable()
export class RunReader {
  private readonly periods: readonly [keptS: number, rememberedS: number];
  private readonly states = gathered((runs: readonly RunName[]) => this.statesOf(runs));

  constructor(
    private readonly database: Database,
    @Inject(DATABASE_OPTIONS) settings: Pick<RetentionSettings, 'RESULT_RETENTION_SECONDS'>,
  ) {
    this.periods = [settings.RESULT_RETENTION_SECONDS, tombstoneSeconds];
  }

  async state(workspaceId: string, model: string, runId: string): Promise<RunState | AgedOut | null> {
    const row = await this.states({ workspaceId, model, runId });
    return row?.age === 'kept' ? row : this.remembered(workspaceId, model, runId);
  }

  /** For an answer without its body, an output that lies in the database is not read. */
  async result(
    workspaceId: string,
    model: string,
    runId: string,
    { withBody = true } = {},
  ): Promise<RunResult | AgedOut | null> {
    const [row] = await this.database.read<ResultRow>(
      `SELECT ${age}, stage, outcome, bucket, billed_micros::float AS "billedMicros", call, facts ->> 'server' AS server, progress, status, failure,
          media_type AS "mediaType", CASE WHEN $6 THEN body END AS body, stored_as AS "storedAs",
          provider_urls AS "providerUrls", ${position}
        FROM run LEFT JOIN payload ON payload.run_id = run.id AND payload.kind = 'output'
          AND run.stage = 'completed' AND age_of(completed_at, $4, $5) = 'kept'
        WHERE id = $1 AND workspace_id = $2 AND model = $3`,
      [runId, workspaceId, model, ...this.periods, withBody],
    );
    if (row?.age !== 'kept') return this.remembered(workspaceId, model, runId);
    const { mediaType } = row;
    const output = mediaType === null ? null : { mediaType, body: payloadBody(row) };
    return { ...row, failure: failureOf(row.failure), output };
  }

  /** The input as the caller sent it, of a run of any model. */
  async input(
    workspaceId: string,
    runId: string,
    { withBody = true } = {},
  ): Promise<{ mediaType: string; body: PayloadBody } | AgedOut | null> {
    const [row] = await this.database.read<Aged & PayloadRow & { mediaType: string }>(
      `SELECT ${age}, media_type AS "mediaType", CASE WHEN $6 THEN body END AS body, stored_as AS "storedAs"
        FROM run JOIN payload ON payload.run_id = run.id AND payload.kind = 'input'
        WHERE id = $1 AND workspace_id = $2 AND model = coalesce($3, model)`,
      [runId, workspaceId, null, ...this.periods, withBody],
    );
    if (row?.age !== 'kept') return this.remembered(workspaceId, null, runId);
    return { mediaType: row.mediaType, body: payloadBody(row) };
  }

  /** The model of a run that is kept or remembered. */
  async modelOf(workspaceId: string, runId: string): Promise<string | null> {
    const [row] = await this.database.read<{ model: string }>(
      `SELECT model FROM run WHERE id = $1 AND workspace_id = $2
        UNION ALL
        SELECT model FROM tombstone WHERE run_id = $1 AND workspace_id = $2`,
      [runId, workspaceId],
    );
    return row?.model ?? null;
  }

  /** What was admitted with the key, and the hex SHA-256 of the request; null where the key is free. */
  async admittedWith(
    workspaceId: string,
    key: string,
  ): Promise<{ runId: string; delivered: boolean; fingerprint: string } | null> {
    const [row] = await this.database.read<{ runId: string; delivered: boolean; fingerprint: string }>(
      `SELECT run_id AS "runId", deliveries > 0 AS delivered, encode(fingerprint, 'hex') AS fingerprint
        FROM idempotency_key WHERE workspace_id = $1 AND key = $2 AND expires_at > router_now()`,
      [workspaceId, key],
    );
    return row ?? null;
  }

  /** What the first answer to a key was made of, to repeat it. It is kept as long as the tombstone. */
  async admission(workspaceId: string, runId: string): Promise<{ origin: string; position: number } | null> {
    const [row] = await this.database.read<{ origin: string; position: number }>(
      `SELECT call ->> 'origin' AS origin, admitted_position AS position
          FROM run WHERE id = $1 AND workspace_id = $2
        UNION ALL
        SELECT origin, admitted_position FROM tombstone
          WHERE run_id = $1 AND workspace_id = $2 AND origin IS NOT NULL`,
      [runId, workspaceId],
    );
    return row ?? null;
  }

  async requestCancel(
    workspaceId: string,
    model: string,
    runId: string,
  ): Promise<CancelAnswer | AgedOut | null> {
    const [row] = await this.database.write<{ answer: CancelAnswer | null }>(
      'SELECT request_cancel($1, $2, $3, $4) AS answer',
      [workspaceId, model, runId, endingRow({ outcome: 'cancelled' })],
    );
    const answer = row?.answer ?? null;
    if (answer !== null && answer.found !== 'completed') return answer;
    const age = await this.age(workspaceId, model, runId);
    return age === 'kept' ? answer : age;
  }

  /** Each is looked up for itself, so that only its own partition is read. */
  private async statesOf(runs: readonly RunName[]): Promise<((RunState & Aged) | null)[]> {
    const rows = await this.database.read<RunState & Aged & { nth: number }>(
      `SELECT nth::integer, found.*
        FROM unnest($1::uuid[], $2::uuid[], $3::text[]) WITH ORDINALITY AS named (run_id, space_id, model_id, nth)
        CROSS JOIN LATERAL (
          SELECT ${age}, stage, outcome, bucket, billed_micros::float AS "billedMicros", call,
            facts ->> 'server' AS server, progress, ${position}
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

  private async remembered(
    workspaceId: string,
    model: string | null,
    runId: string,
  ): Promise<AgedOut | null> {
    return (await this.age(workspaceId, model, runId)) === null ? null : 'aged_out';
  }

  /**
   * The age of a run, under that model if one is given, or of its tombstone; null when neither is remembered. One statement over both tables: a
   * run that is replaced by its tombstone meanwhile is seen as one of them.
   */
  private async age(
    workspaceId: string,
    model: string | null,
    runId: string,
  ): Promise<'kept' | AgedOut | null> {
    const [row] = await this.database.read<Aged>(
      `SELECT ${age} FROM run WHERE id = $1 AND workspace_id = $2 AND model = coalesce($3, model)
        UNION ALL
        SELECT CASE age_of(completed_at, $4, $5) WHEN 'gone' THEN 'gone' ELSE 'aged_out' END
          FROM tombstone WHERE run_id = $1 AND workspace_id = $2 AND model = coalesce($3, model)`,
      [runId, workspaceId, model, ...this.periods],
    );
    return row === undefined || row.age === 'gone' ? null : row.age;
  }
}
