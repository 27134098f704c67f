import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import type { AuditRecord, LedgerEntry } from './entities/billing.entity.js';
import { keyId, type Outcome } from './run-facts.js';

/** A workspace's runs that ended at `from` or later and before `until`; either may be left open. */
export interface UsageRange {
  workspaceId: string;
  from?: Date | undefined;
  until?: Date | undefined;
}

/** One finished run as it was billed. Amounts are micro-dollars; times are UTC, ISO 8601 to the microsecond. */
export interface UsageRecord extends Omit<
  AuditRecord,
  'workspaceId' | 'outcome' | 'admittedAt' | 'grantedAt' | 'dispatchedAt' | 'outputAt' | 'completedAt'
> {
  workspace: string;
  /** The first characters of the key; null for tokens. */
  keyPrefix: string | null;
  outcome: Outcome;
  admittedAt: string;
  completedAt: string;
  /** From admission to outcome. */
  latencyMs: number;
}

/** One line of a workspace's ledger: negative for a billed run, positive for credits added. */
export interface LedgerLine extends Pick<
  LedgerEntry,
  'runId' | 'amountMicros' | 'balanceMicros' | 'basis' | 'note'
> {
  id: number;
  at: string;
}

const utc = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** A deleted workspace's name stands in the record of its deletion. */
const workspaceName = `coalesce(workspace.name,
  (SELECT subject FROM operator_action WHERE action = 'workspace.delete' AND details ->> 'id' = $1::text LIMIT 1))`;

const columns = `audit_record.request_id AS "requestId", audit_record.run_id AS "runId", ${workspaceName} AS workspace,
  credential, api_key.prefix AS "keyPrefix", model, provider, route, outcome, bucket, status,
  ${utc('admitted_at')} AS "admittedAt", ${utc('completed_at')} AS "completedAt",
  round(extract(epoch FROM completed_at - admitted_at) * 1000)::float AS "latencyMs",
  cost_micros::float AS "costMicros", billed_micros::float AS "billedMicros", basis,
  caller_left AS "callerLeft"`;

const tables = `audit_record LEFT JOIN workspace ON workspace.id = audit_record.workspace_id
  LEFT JOIN api_key ON api_key.id = CASE WHEN credential LIKE 'key:%' THEN substr(credential, 5)::uuid END`;

const inRange = `audit_record.workspace_id = $1::uuid AND completed_at >= coalesce($2::timestamptz, '-infinity')
  AND completed_at < coalesce($3::timestamptz, 'infinity')`;

/** How many runs ended, and what was billed for them; each is of one value of what they are grouped by. */
export interface UsageGroup {
  day?: string;
  model?: string;
  /** Null for runs that access tokens admitted. */
  keyId?: string | null;
  runs: number;
  succeeded: number;
  billedMicros: number;
}

/** Usage can be grouped by these. A day is one of UTC: that on which the run ended. */
const groupings = {
  day: `to_char(completed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day`,
  model: 'model',
  key: keyId,
} as const;

type UsageGrouping = keyof typeof groupings;

/** Reads usage and its cost from the audit records and the ledger, which outlive the runs. */
@Injectable()
export class UsageReader {
  constructor(private readonly database: Database) {}

  /**
   * The next records in the order of their ends, after the one given. A workspace's runs end one at a time
   * under its row lock, so that nothing can end later and yet be dated before a page that was read.
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

  /** The last records, newest first. */
  async latest(range: UsageRange, limit: number): Promise<UsageRecord[]> {
    return this.database.reads.query<UsageRecord>(
      `SELECT ${columns} FROM ${tables} WHERE ${inRange}
        ORDER BY completed_at DESC, audit_record.run_id DESC LIMIT $4`,
      [...valuesOf(range), limit],
    );
  }

  /** How many runs ended in the range, and what was billed for them. */
  async totals(range: UsageRange): Promise<{ runs: number; billedMicros: number }> {
    const [row] = await this.database.reads.query<{ runs: number; billedMicros: number }>(
      `SELECT count(*)::float AS runs, coalesce(sum(billed_micros), 0)::float AS "billedMicros"
        FROM audit_record WHERE ${inRange}`,
      valuesOf(range),
    );
    return row ?? { runs: 0, billedMicros: 0 };
  }

  /** At most `limit` groups, in the order of what they are grouped by. */
  async groups(range: UsageRange, by: readonly UsageGrouping[], limit: number): Promise<UsageGroup[]> {
    const places = by.map((_, index) => index + 1).join(', ');
    return this.database.list<UsageGroup>(
      range.workspaceId,
      `SELECT ${by.map((each) => groupings[each]).join(', ')}, count(*)::float AS runs,
          count(*) FILTER (WHERE outcome = 'succeeded')::float AS succeeded,
          sum(billed_micros)::float AS "billedMicros"
        FROM audit_record WHERE ${inRange} GROUP BY ${places} ORDER BY ${places} LIMIT $4`,
      [...valuesOf(range), limit],
    );
  }

  /** The last entries of a workspace's ledger, newest first. */
  async ledger(workspaceId: string, limit: number): Promise<LedgerLine[]> {
    return this.database.reads.query<LedgerLine>(
      `SELECT id::float AS id, ${utc('at')} AS at, run_id AS "runId", amount_micros::float AS "amountMicros",
          balance_micros::float AS "balanceMicros", basis, note
        FROM ledger_entry WHERE workspace_id = $1 ORDER BY id DESC LIMIT $2`,
      [workspaceId, limit],
    );
  }
}

const valuesOf = ({ workspaceId, from, until }: UsageRange): unknown[] => [workspaceId, from, until];
