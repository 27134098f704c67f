import { isUuid } from '#schemas';
import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

/** A refund that was made. Amounts are micro-dollars. `balanceMicros` is null for unlimited credits. */
export interface Refund {
  kind: 'refunded';
  workspaceId: string;
  workspace: string;
  model: string;
  amountMicros: number;
  balanceMicros: number | null;
}

type RefusalReason = 'unknown' | 'live' | 'deleted_workspace' | 'not_billed' | 'refunded';

/** Why a run is not refunded. The reasons are those of the SQL function. */
export const refundRefusals: Readonly<Record<RefusalReason, string>> = {
  unknown: 'There is no such run, or its records have expired.',
  live: 'The run has not ended. Only a run that has ended can be refunded.',
  deleted_workspace: 'The workspace of the run is deleted.',
  not_billed: 'The run was not billed.',
  refunded: 'The run was already refunded.',
};

interface RefusedRefund {
  kind: 'refused';
  reason: RefusalReason;
}

interface Row extends Omit<Refund, 'kind'> {
  refused: RefusalReason | null;
}

/** Returns what runs were billed to the credits of their workspaces, for operators. */
@Injectable()
export class RefundRepository {
  constructor(private readonly database: Database) {}

  /**
   * Refunds a run, at most once: of concurrent calls, one succeeds. The ledger entry names the run, and the action
   * is recorded in the same transaction.
   */
  async refund(runId: string, note: string, by: string): Promise<Refund | RefusedRefund> {
    if (!isUuid(runId)) return { kind: 'refused', reason: 'unknown' };
    const [row] = await this.database.work.query<Row>(
      `SELECT refused, space AS "workspaceId", space_name AS workspace, model, amount::float AS "amountMicros",
          balance::float AS "balanceMicros"
        FROM refund_run($1, $2, $3)`,
      [runId, by, note],
    );
    if (!row) throw new Error('refund_run returned no row');
    const { refused, ...made } = row;
    return refused === null ? { kind: 'refunded', ...made } : { kind: 'refused', reason: refused };
  }

  /** The refund of a run, if it was made. */
  async find(workspaceId: string, runId: string): Promise<{ at: Date; amountMicros: number } | null> {
    const [row] = await this.database.reads.query<{ at: Date; amountMicros: number }>(
      `SELECT at, amount_micros::float AS "amountMicros" FROM ledger_entry
        WHERE workspace_id = $1 AND run_id = $2 AND amount_micros > 0`,
      [workspaceId, runId],
    );
    return row ?? null;
  }
}
