import { type Attribution, type Dimension, isDimension, type UsageGrouping } from '#schemas';
import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import type { AuditRecord, LedgerEntry } from './entities/billing.entity.js';
import { keyId, type Outcome } from './run-facts.js';
import { type Span, type UsageParts, usageParts } from './usage-ranges.js';

/** The runs of a workspace that ended at or after `from` and before `until`. Both bounds are optional. */
export interface UsageRange {
  workspaceId: string;
  from?: Date | undefined;
  until?: Date | undefined;
}

/** A finished run and its bill. Amounts are micro-dollars. Times are ISO 8601 in UTC with microseconds. */
export interface UsageRecord extends Omit<
  AuditRecord,
  | 'workspaceId'
  | 'outcome'
  | 'admittedAt'
  | 'grantedAt'
  | 'dispatchedAt'
  | 'outputAt'
  | 'completedAt'
  | 'simulated'
  | 'budgetWindows'
> {
  workspace: string;
  /** The prefix of the key. Null for access tokens. */
  keyPrefix: string | null;
  outcome: Outcome;
  admittedAt: string;
  completedAt: string;
  /** The time from admission to outcome. */
  latencyMs: number;
}

/** One entry of a workspace's ledger: negative for a billed run, positive for added credits. */
export interface LedgerLine extends Pick<
  LedgerEntry,
  'runId' | 'amountMicros' | 'balanceMicros' | 'basis' | 'note'
> {
  id: number;
  at: string;
}

const utc = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The name of a deleted workspace is in the record of its deletion. */
const workspaceName = `coalesce(workspace.name,
  (SELECT subject FROM operator_action WHERE action = 'workspace.delete' AND details ->> 'id' = $1::text LIMIT 1))`;

const columns = `audit_record.request_id AS "requestId", audit_record.run_id AS "runId", ${workspaceName} AS workspace,
  credential, api_key.prefix AS "keyPrefix", model, provider, route, outcome, bucket, status,
  ${utc('admitted_at')} AS "admittedAt", ${utc('completed_at')} AS "completedAt",
  round(extract(epoch FROM completed_at - admitted_at) * 1000)::float AS "latencyMs",
  cost_micros::float AS "costMicros", billed_micros::float AS "billedMicros", basis, attribution,
  caller_left AS "callerLeft"`;

const tables = `audit_record LEFT JOIN workspace ON workspace.id = audit_record.workspace_id
  LEFT JOIN api_key ON api_key.id = CASE WHEN credential LIKE 'key:%' THEN substr(credential, 5)::uuid END`;

const inRange = `audit_record.workspace_id = $1::uuid AND completed_at >= coalesce($2::timestamptz, '-infinity')
  AND completed_at < coalesce($3::timestamptz, 'infinity')`;

/** The number of runs that ended, and the amount billed for them, for one group. */
export interface UsageGroup {
  day?: string;
  model?: string;
  /** Null for runs that were admitted with an access token. */
  keyId?: string | null;
  /** The value of the dimension. Null for the runs without one. */
  attribution?: Attribution | null;
  runs: number;
  succeeded: number;
  billedMicros: number;
}

/** The possible groupings of usage. A day is the UTC day on which the run ended. */
const groupings = {
  day: `to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day`,
  model: 'model',
  key: keyId,
} as const;

/** How usage between two moments is read, from records that are added up or not. */
type ReadParts = Record<keyof UsageParts, (from: string, until: string) => string>;

const readPart: ReadParts = {
  day: (from, until) => readSums('day', from, until),
  hour: (from, until) => readSums('hour', from, until),
  record: (from, until) => readRecords('', from, until),
};

const readSums = (unit: string, from: string, until: string): string =>
  `SELECT at, model, credential, runs, succeeded, billed_micros
    FROM usage_sum WHERE workspace_id = $1 AND unit = '${unit}' AND at >= ${from} AND at < ${until}`;

const readRecords = (more: string, from: string, until: string): string =>
  `SELECT completed_at AS at, model, credential, 1 AS runs, (outcome = 'succeeded')::integer AS succeeded, billed_micros${more}
    FROM audit_record WHERE workspace_id = $1 AND completed_at >= ${from} AND completed_at < ${until}`;

/** The same with the value of a dimension, whose name is parameter 2. */
const readValues: ReadParts = {
  day: (from, until) => readValueSums('day', from, until),
  hour: (from, until) => readValueSums('hour', from, until),
  record: (from, until) => readRecords(', attribution ->> $2::text AS value', from, until),
};

/** Runs without a value are all runs less those with one, so they need no sums of their own. */
const readValueSums = (unit: string, from: string, until: string): string =>
  `SELECT *, NULL AS value FROM (${readSums(unit, from, until)}) AS every
    UNION ALL
    SELECT at, model, credential, sign * runs, sign * succeeded, sign * billed_micros, CASE sign WHEN 1 THEN value END
    FROM usage_dimension_sum, (VALUES (1), (-1)) AS counted (sign)
    WHERE workspace_id = $1 AND dimension = $2 AND unit = '${unit}' AND at >= ${from} AND at < ${until}`;

/** Reads the parts. The values of their moments begin with parameter `first`. */
function readParts(parts: UsageParts, read: ReadParts, first: number): { text: string; moments: string[] } {
  const moments: string[] = [];
  const place = (ms: number) => `$${moments.push(momentOf(ms)) + first - 1}::timestamptz`;
  const texts = (['day', 'hour', 'record'] as const).flatMap((part) =>
    parts[part].map(([from, until]) => read[part](place(from), place(until))),
  );
  return { text: texts.join(' UNION ALL '), moments };
}

const momentOf = (ms: number): string =>
  Number.isFinite(ms) ? new Date(ms).toISOString() : ms > 0 ? 'infinity' : '-infinity';

/** Reads usage and costs from the audit records and the ledger, which outlive the runs. */
@Injectable()
export class UsageReader {
  constructor(private readonly database: Database) {}

  /**
   * Reads the next records after `after`, in the order in which the runs ended. A workspace's runs end one at a
   * time under its row lock, so a run that ends later is never dated before a page that was already read.
   */
  async page(range: UsageRange, limit: number, after?: UsageRecord): Promise<UsageRecord[]> {
    return this.database.reads.query<UsageRecord>(
      `SELECT ${columns} FROM ${tables}
        WHERE ${inRange} AND (completed_at, audit_record.run_id) > ($4::timestamptz, $5::uuid)
        ORDER BY completed_at, audit_record.run_id LIMIT $6`,
      [
        ...valuesOf(range),
        after?.completedAt ?? '-infinity',
        after?.runId ?? '00000000-0000-0000-0000-000000000000',
        limit,
      ],
    );
  }

  /** Reads the latest records, newest first. */
  async latest(range: UsageRange, limit: number): Promise<UsageRecord[]> {
    return this.database.reads.query<UsageRecord>(
      `SELECT ${columns} FROM ${tables} WHERE ${inRange}
        ORDER BY completed_at DESC, audit_record.run_id DESC LIMIT $4`,
      [...valuesOf(range), limit],
    );
  }

  /** The number of runs that ended in the range, and the amount billed for them. */
  async totals(range: UsageRange): Promise<{ runs: number; billedMicros: number }> {
    const [row] = await this.groups(range, [], 1);
    return row ?? { runs: 0, billedMicros: 0 };
  }

  /**
   * Reads at most `limit` groups, ordered by the grouping, of which at most one is a dimension. Without a grouping, all
   * runs are one group.
   */
  async groups(range: UsageRange, by: readonly UsageGrouping[], limit: number): Promise<UsageGroup[]> {
    const dimension = by.find(isDimension);
    const parts = usageParts(spanOf(range), await this.addedUntil(range.workspaceId));
    const { text, moments } =
      dimension === undefined ? readParts(parts, readPart, 2) : readParts(parts, readValues, 3);
    if (text === '') return [];
    const places = by.map((_, index) => index + 1).join(', ');
    const rows = await this.database.list<UsageGroup & { value?: string | null }>(
      range.workspaceId,
      `SELECT ${[...by.map((each) => (isDimension(each) ? 'value' : groupings[each])), 'sum(runs)::float AS runs'].join(', ')},
          sum(succeeded)::float AS succeeded, sum(billed_micros)::float AS "billedMicros"
        FROM (${text}) AS parts ${by.length > 0 ? `GROUP BY ${places}` : ''} HAVING sum(runs) > 0
        ${by.length > 0 ? `ORDER BY ${places}` : ''} LIMIT ${limit}`,
      [range.workspaceId, ...(dimension === undefined ? [] : [dimension]), ...moments],
    );
    return dimension === undefined ? rows : rows.map((row) => attributed(row, dimension));
  }

  /** Up to when the records of a workspace are added up. Sums before that moment never change. */
  private async addedUntil(workspaceId: string): Promise<number> {
    const [row] = await this.database.reads.query<{ until: Date }>(
      `SELECT until FROM usage_progress WHERE workspace_id = $1 AND isfinite(until)`,
      [workspaceId],
    );
    return row?.until.getTime() ?? -Infinity;
  }

  /** Reads the latest entries of a workspace's ledger, newest first. */
  async ledger(workspaceId: string, limit: number): Promise<LedgerLine[]> {
    return this.database.reads.query<LedgerLine>(
      `SELECT id::float AS id, ${utc('at')} AS at, run_id AS "runId", amount_micros::float AS "amountMicros",
          balance_micros::float AS "balanceMicros", basis, note
        FROM ledger_entry WHERE workspace_id = $1 ORDER BY id DESC LIMIT $2`,
      [workspaceId, limit],
    );
  }
}

const attributed = (
  { value = null, ...group }: UsageGroup & { value?: string | null },
  dimension: Dimension,
): UsageGroup => ({ ...group, attribution: value === null ? null : { [dimension]: value } });

const valuesOf = ({ workspaceId, from, until }: UsageRange): unknown[] => [workspaceId, from, until];

const spanOf = ({ from, until }: UsageRange): Span => [
  from?.getTime() ?? -Infinity,
  until?.getTime() ?? Infinity,
];
