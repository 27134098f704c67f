import type { Attribution } from '#schemas';
import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import type { LedgerEntry } from './entities/billing.entity.js';

/** An entry of a workspace's ledger, and facts of its run. Amounts are micro-dollars. */
export interface ListedEntry extends Pick<
  LedgerEntry,
  'id' | 'runId' | 'at' | 'amountMicros' | 'balanceMicros' | 'basis'
> {
  /** Null without a run, and once the record of the run has expired. */
  model: string | null;
  attribution: Attribution | null;
  /** The names of the budgets that counted the run and still exist. Null if there are none. */
  budgets: string[] | null;
}

/** Made at or after `from` and before `until`. Both bounds are optional. */
export interface LedgerRange {
  from?: Date | undefined;
  until?: Date | undefined;
}

const newestEntry = '9223372036854775807';

/** Reads the ledger of a workspace for its callers. */
@Injectable()
export class LedgerReader {
  constructor(private readonly database: Database) {}

  /** Reads entries, newest first, starting after the id `after`. */
  page(
    workspaceId: string,
    { from, until }: LedgerRange,
    { after = newestEntry, limit }: { after?: string | undefined; limit: number },
  ): Promise<ListedEntry[]> {
    return this.database.list<ListedEntry>(
      workspaceId,
      `SELECT entry.id::text AS id, entry.run_id AS "runId", at, amount_micros::float AS "amountMicros",
          balance_micros::float AS "balanceMicros", entry.basis, model, attribution, (
            SELECT array_agg(name ORDER BY name) FROM budget_window JOIN budget ON budget.id = budget_id
            WHERE budget_window.id = ANY (budget_windows) AND budget.workspace_id = $1
          ) AS budgets
        FROM (
          SELECT * FROM ledger_entry WHERE workspace_id = $1 AND id < $2
            AND ($3::timestamptz IS NULL OR at >= $3) AND ($4::timestamptz IS NULL OR at < $4)
          ORDER BY id DESC LIMIT $5
        ) AS entry LEFT JOIN audit_record ON audit_record.workspace_id = $1 AND audit_record.run_id = entry.run_id
        ORDER BY entry.id DESC`,
      [workspaceId, after, from ?? null, until ?? null, limit],
    );
  }
}
