import type { Bucket } from '#errors';
import type { Attribution } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import { Database } from './database.js';
import type { Run } from './entities/run.entity.js';
import type { RunTimes } from './live-run.js';
import { newestId } from './newest-first.js';
import {
  type Basis,
  type FailureRow,
  failureOf,
  isSimulated,
  keyId,
  type Outcome,
  type RunFailure,
  runTimes,
  type Stage,
} from './run-facts.js';
import { DATABASE_OPTIONS, type RetentionSettings, tombstoneSeconds } from './settings.js';

/** Selects runs of a workspace. An absent member accepts all. */
export interface RequestFilter {
  requestId?: string | undefined;
  model?: string | undefined;
  /** The key that admitted the run. */
  keyId?: string | undefined;
  stages?: readonly Stage[] | undefined;
  outcome?: Outcome | undefined;
  bucket?: Bucket | undefined;
  /** Runs with all of these values. */
  attribution?: Attribution | undefined;
  /** Only runs that are kept without expiry. */
  kept?: boolean | undefined;
  /** Only runs that anyone with their link may see. */
  shared?: boolean | undefined;
  /** Admitted at or after `from` and before `until`. */
  from?: Date | undefined;
  until?: Date | undefined;
}

/** A live or ended run in a list. Amounts are micro-dollars. */
export interface ListedRequest
  extends RunTimes, Pick<Run, 'model' | 'stage' | 'outcome' | 'reservedMicros' | 'billedMicros'> {
  requestId: string;
  bucket: Bucket | null;
  keyId: string | null;
  keyName: string | null;
  basis: Basis | null;
  attribution: Attribution | null;
  /** Whether the simulator serves it. */
  simulated: boolean;
  /** Whether status and collect still answer: the run is live, or its result was neither deleted nor has aged out. */
  isKept: boolean;
  /** Whether the workspace keeps it without expiry. */
  kept: boolean;
  /** Whether a link shows it to anyone. */
  shared: boolean;
  /** When the result expires. Null for a live run, and once it has expired. */
  expiresAt: Date | null;
}

/** Everything known about a run. Facts that are not in the audit record are null once the result has aged out. */
export interface RequestDetail extends ListedRequest {
  failure: RunFailure | null;
  /** How often the run was claimed for its submission. */
  attempts: number | null;
  cancelRequestedAt: Date | null;
  /** The number of copied assets of the output. */
  assets: number | null;
}

/** Parameters 4 to 10, and 14. */
const accepted = (
  attribution: string,
) => `($4::text IS NULL OR model = $4) AND ($5::text IS NULL OR credential = $5)
  AND ($6::text[] IS NULL OR stage = ANY ($6))
  AND ($7::text IS NULL OR outcome = $7)
  AND ($8::text IS NULL OR bucket = $8)
  AND ($9::timestamptz IS NULL OR admitted_at >= $9)
  AND ($10::timestamptz IS NULL OR admitted_at < $10)
  AND ($14::jsonb IS NULL OR ${attribution} @> $14)`;

/**
 * Parameters 2, 3, 9 and 10. An id begins with the time by its gateway's clock, so it bounds the search. The time by
 * the database's clock decides. The two differ by less than a minute.
 */
const firstId = `greatest($3::uuid, v7_floor(greatest($9::timestamptz - interval '1 minute', 'epoch')), '00000000-0000-0000-0000-000000000000')`;
const endId = `least($2::uuid, CASE WHEN $10::timestamptz IS NOT NULL
  THEN v7_floor(greatest($10 + interval '1 minute', 'epoch')) END)`;

/** The filters with an index of ended runs, and their parameters. The rarest usually come first. */
const indexed = [
  ['bucket', '$8::text'],
  ['keyId', '$5::text'],
  ['model', '$4::text'],
  ['outcome', '$7::text'],
] as const satisfies readonly [keyof RequestFilter, string][];
const columnOf = { bucket: 'bucket', keyId: 'credential', model: 'model', outcome: 'outcome' };

/**
 * Selects ended runs, newest first, as a range of the index of one filter. With equalities, the planner would walk
 * all runs backwards for a model that is rare in this workspace and common in others.
 */
function endedOf(filter: RequestFilter): { from: string; where: string; orderBy: string } {
  if (filter.attribution !== undefined) return attributedTo(filter);
  if (filter.kept) return listedIn('kept_run', filter);
  if (filter.shared) return listedIn('shared_run', filter);
  const lead = indexed.find(([name]) => filter[name] !== undefined);
  const columns = ['workspace_id', ...(lead ? [columnOf[lead[0]]] : []), 'run_id'];
  const values = ['$1::uuid', ...(lead ? [lead[1]] : [])].join(', ');
  return {
    from: `(SELECT *, 'completed' AS stage FROM audit_record) AS ended`,
    ...rangeOf(columns, values, filter),
  };
}

/** Selects the same by a value of a dimension: as a range of these values, each with its audit record. Parameters 15 and 16. */
function attributedTo(filter: RequestFilter): ReturnType<typeof endedOf> {
  const columns = ['workspace_id', 'dimension', 'value', 'run_id'].map((column) => `named.${column}`);
  return {
    // The limit of one record keeps the order of the names.
    from: `run_attribution AS named CROSS JOIN LATERAL (
        SELECT audit_record.*, 'completed' AS stage FROM audit_record
        WHERE audit_record.workspace_id = $1 AND audit_record.run_id = named.run_id LIMIT 1
      ) AS ended`,
    ...rangeOf(columns, '$1::uuid, $15::text, $16::text', filter),
  };
}

/** Selects the runs that the workspace keeps or shares, each with its audit record. */
function listedIn(table: 'kept_run' | 'shared_run', filter: RequestFilter): ReturnType<typeof endedOf> {
  return {
    from: `(SELECT workspace_id, run_id FROM ${table}) AS named CROSS JOIN LATERAL (
        SELECT audit_record.*, 'completed' AS stage FROM audit_record
        WHERE audit_record.workspace_id = $1 AND audit_record.run_id = named.run_id LIMIT 1
      ) AS ended`,
    ...rangeOf(['named.workspace_id', 'named.run_id'], '$1::uuid', filter),
  };
}

/** The range of an index whose last column is the id of a run, and its order. */
function rangeOf(columns: readonly string[], values: string, { requestId }: RequestFilter) {
  const names = columns.join(', ');
  const isOne = requestId === undefined ? '' : ` AND ${columns.at(-1)} = $3`;
  return {
    where: `(${names}) >= (${values}, ${firstId}) AND (${names}) < (${values}, ${endId})${isOne}`,
    orderBy: columns.map((column) => `${column} DESC`).join(', '),
  };
}

/** Parameters 12 and 13. The row of a run may be deleted before its result expires. */
const kept = 'EXISTS (SELECT FROM kept_run WHERE kept_run.run_id = ended.run_id)';
const isKept = `CASE WHEN ${kept} THEN true
  WHEN age_of(completed_at, $12, $13) = 'kept' THEN EXISTS (SELECT FROM run WHERE run.id = ended.run_id) ELSE false END`;
const shared = `(EXISTS (SELECT FROM shared_run WHERE shared_run.run_id = ended.run_id) AND ${isKept})`;
const expiresAt = `completed_at + make_interval(secs => least($12, (SELECT result_retention_seconds FROM workspace WHERE id = $1)))`;

/** Parameters 1 to 16. One statement, so that a run that ends meanwhile is listed once. */
function listed(filter: RequestFilter): string {
  const ended = endedOf(filter);
  return `(SELECT * FROM (
    (SELECT id AS "requestId", model, stage, outcome, bucket, ${keyId}, ${runTimes},
        run.reserved_micros::float AS "reservedMicros", NULL::float AS "billedMicros", NULL AS basis,
        call -> 'attribution' AS attribution,
        ${isSimulated} AS simulated, true AS "isKept", false AS kept, false AS shared, NULL::timestamptz AS "expiresAt"
      FROM outbox JOIN run ON run.id = outbox.run_id
      WHERE outbox.workspace_id = $1 AND outbox.run_id >= ${firstId} AND outbox.run_id < ${endId}
        AND ($3::uuid IS NULL OR outbox.run_id = $3) AND NOT run.facts ? 'unlisted'${filter.kept || filter.shared ? ' AND false' : ''} AND ${accepted("call -> 'attribution'")} ORDER BY outbox.run_id DESC LIMIT $11)
    UNION ALL
    (SELECT ended.run_id, model, stage, outcome, bucket, ${keyId}, ${runTimes},
        cost_micros::float, billed_micros::float, basis, attribution, simulated, ${isKept}, ${kept}, ${shared}, ${expiresAt}
      FROM ${ended.from}
      WHERE ${ended.where}${filter.kept ? ` AND ${kept}` : ''}${filter.shared ? ` AND ${shared}` : ''} AND ${accepted('attribution')} ORDER BY ${ended.orderBy} LIMIT $11)
  ) AS either ORDER BY "requestId" DESC LIMIT $11) AS listed LEFT JOIN api_key ON api_key.id = "keyId"::uuid`;
}

const details = `LEFT JOIN run ON "isKept" AND run.id = "requestId"`;
const detailColumns = `run.failure, run.epoch AS attempts, run.cancel_requested_at AS "cancelRequestedAt",
  CASE WHEN "isKept" THEN (
    SELECT count(*)::integer FROM stored_object WHERE owner_id = "requestId" AND key LIKE 'runs/%/assets/%'
  ) END AS assets`;

/**
 * Lists the runs of a workspace: live ones from their rows, ended ones from their audit records, which outlive the
 * rows.
 */
@Injectable()
export class RequestReader {
  constructor(
    private readonly database: Database,
    @Inject(DATABASE_OPTIONS)
    private readonly settings: Pick<RetentionSettings, 'RESULT_RETENTION_SECONDS'>,
  ) {}

  /** Lists runs, newest first, starting after the id `after`. */
  async page(
    workspaceId: string,
    filter: RequestFilter,
    page: { after?: string | undefined; limit: number },
  ): Promise<ListedRequest[]> {
    return this.database.list<ListedRequest>(
      workspaceId,
      `SELECT listed.*, api_key.name AS "keyName" FROM ${listed(filter)} ORDER BY "requestId" DESC`,
      this.valuesOf(workspaceId, filter, page),
    );
  }

  async find(workspaceId: string, requestId: string): Promise<RequestDetail | null> {
    const filter = { requestId };
    const [row] = await this.database.list<RequestDetail & { failure: FailureRow | null }>(
      workspaceId,
      `SELECT listed.*, api_key.name AS "keyName", ${detailColumns} FROM ${listed(filter)} ${details}`,
      this.valuesOf(workspaceId, filter, { limit: 1 }),
    );
    return row ? { ...row, failure: failureOf(row.failure) } : null;
  }

  private valuesOf(
    workspaceId: string,
    filter: RequestFilter,
    { after = newestId, limit }: { after?: string | undefined; limit: number },
  ): unknown[] {
    return [
      workspaceId,
      after,
      filter.requestId ?? null,
      filter.model ?? null,
      filter.keyId === undefined ? null : `key:${filter.keyId}`,
      filter.stages ?? null,
      filter.outcome ?? null,
      filter.bucket ?? null,
      filter.from ?? null,
      filter.until ?? null,
      limit,
      this.settings.RESULT_RETENTION_SECONDS,
      tombstoneSeconds,
      filter.attribution === undefined ? null : JSON.stringify(filter.attribution),
      ...(Object.entries(filter.attribution ?? {})[0] ?? []),
    ];
  }
}
