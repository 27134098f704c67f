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
  | 'budgetWindows'
  | 'overshootMicros'
  | 'written'
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
  caller_left AS "callerLeft", simulated`;

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

/** The columns by which runs are grouped, apart from `value` of a dimension. A day is the UTC day on which they ended. */
const columnOf = { day: 'day', model: 'model', key: '"keyId"' } as const;

/** How the runs that ended between two moments are read, from records that are added up or not. */
type Source = Record<keyof UsageParts, (from: string, until: string) => string>;

const sourceOf = (sums: string, records: string): Source => ({
  day: (from, until) => `${sums} AND unit = 'day' AND at >= ${from} AND at < ${until}`,
  hour: (from, until) => `${sums} AND unit = 'hour' AND at >= ${from} AND at < ${until}`,
  record: (from, until) => `${records} AND completed_at >= ${from} AND completed_at < ${until}`,
});

const keysOf = (at: string) => `to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, model, ${keyId}`;
const sumColumns = `${keysOf('at')}, runs, succeeded, billed_micros`;
// Postgres leaves out the columns that are not asked for only if each part has the same types.
const recordColumns = `${keysOf('completed_at')}, 1::bigint AS runs,
  (outcome = 'succeeded')::integer::bigint AS succeeded, billed_micros::bigint AS billed_micros`;

const everyRun = sourceOf(
  `SELECT ${sumColumns} FROM usage_sum WHERE workspace_id = $1`,
  `SELECT ${recordColumns} FROM audit_record WHERE workspace_id = $1`,
);
/** The runs with a value of the dimension, whose name is parameter 2. */
const runsWithValue = sourceOf(
  `SELECT ${sumColumns}, value FROM usage_dimension_sum WHERE workspace_id = $1 AND dimension = $2`,
  `SELECT ${recordColumns}, attribution ->> $2 AS value FROM audit_record
    WHERE workspace_id = $1 AND attribution ->> $2 IS NOT NULL`,
);

/** The moments of a time range's parts, which are parameters from `first` on, and how to read the rows of a source. */
function partsFrom(
  first: number,
  parts: UsageParts,
): { moments: string[]; rowsOf: (source: Source) => string } {
  const spans = (['day', 'hour', 'record'] as const).flatMap((part) =>
    parts[part].map((span) => ({ part, span })),
  );
  const place = (nth: number) => `$${first + nth}::timestamptz`;
  return {
    moments: spans.flatMap(({ span }) => span.map(momentOf)),
    rowsOf: (source) =>
      spans
        .map(({ part }, index) => source[part](place(2 * index), place(2 * index + 1)))
        .join(' UNION ALL '),
  };
}

const amounts = ['runs', 'succeeded', 'billed_micros'];

const grouped = (columns: readonly string[], rows: string): string =>
  `SELECT ${[...columns, ...amounts.map((amount) => `sum(${amount}) AS ${amount}`)].join(', ')}
    FROM (${rows}) AS rows GROUP BY ${columns.join(', ') || '()'} HAVING sum(runs) > 0`;

/** The groups of the runs with a value, and those of the others: all runs less those with one. */
function groupedByValue(columns: readonly string[], every: string, withValue: string): string {
  const others = columns.map((column) => (column === 'value' ? 'NULL AS value' : column));
  const less = amounts.map((amount) => `-${amount}`);
  const rows = `SELECT ${[...others, ...amounts].join(', ')} FROM (${every}) AS every
    UNION ALL SELECT ${[...others, ...less].join(', ')} FROM given`;
  return `WITH given AS (${grouped(columns, withValue)}) SELECT * FROM given UNION ALL ${grouped(columns, rows)}`;
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
    const names = dimension === undefined ? [range.workspaceId] : [range.workspaceId, dimension];
    const { moments, rowsOf } = partsFrom(names.length + 1, parts);
    if (moments.length === 0) return [];
    const columns = by.map((each) => (isDimension(each) ? 'value' : columnOf[each]));
    const groups =
      dimension === undefined
        ? grouped(columns, rowsOf(everyRun))
        : groupedByValue(columns, rowsOf(everyRun), rowsOf(runsWithValue));
    const figures = ['runs::float', 'succeeded::float', 'billed_micros::float AS "billedMicros"'];
    const rows = await this.database.list<UsageGroup & { value?: string | null }>(
      range.workspaceId,
      `SELECT ${[...columns, ...figures].join(', ')} FROM (${groups}) AS groups
        ${columns.length > 0 ? `ORDER BY ${columns.join(', ')}` : ''} LIMIT ${limit}`,
      [...names, ...moments],
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
