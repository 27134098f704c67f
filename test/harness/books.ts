import { type Database, OutboxRepository } from '#persistence';

/**
 * I3: counters equal the sums over live runs, the ledger is the sum of billed outcomes, and a refund returns a bill.
 */
export async function brokenBooks(database: Database): Promise<string[]> {
  const drift = await new OutboxRepository(database).drift();
  return [
    ...drift.map(
      (each) => `I3 ${each.counter} of ${each.workspaceId} says ${each.counted}, is ${each.actual}`,
    ),
    ...(await moneyLines(database)),
  ];
}

/** Audit records repeat the billed outcomes, including those of deleted runs. */
async function moneyLines(database: Database): Promise<string[]> {
  const differing = await database.reads.query<{ id: string }>(
    `SELECT id FROM run JOIN audit_record ON run_id = id WHERE run.billed_micros <> audit_record.billed_micros`,
  );
  const rows = await database.reads.query<{ id: string; billed: string; entered: string }>(
    `SELECT id, billed, entered FROM (
       SELECT workspace.id,
         coalesce((SELECT sum(billed_micros) FROM audit_record
           WHERE audit_record.workspace_id = workspace.id), 0) AS billed,
         coalesce((SELECT -sum(amount_micros) FROM ledger_entry
           WHERE ledger_entry.workspace_id = workspace.id AND run_id IS NOT NULL AND amount_micros < 0), 0) AS entered
       FROM workspace) AS sums WHERE billed <> entered`,
  );
  const refunds = await database.reads.query<{ run: string }>(
    `SELECT refund.run_id AS run FROM ledger_entry AS refund WHERE run_id IS NOT NULL AND amount_micros > 0 AND NOT EXISTS (
       SELECT FROM ledger_entry AS bill WHERE bill.workspace_id = refund.workspace_id AND bill.run_id = refund.run_id
         AND bill.amount_micros = -refund.amount_micros)`,
  );
  const budgets = await database.reads.query<{ name: string; counted: string; spent: string }>(
    `SELECT name, spent_micros AS counted, coalesce(spent, 0) AS spent
     FROM budget JOIN budget_window AS its ON budget_id = budget.id LEFT JOIN (
       SELECT budget_window, sum(billed_micros - coalesce(refund.amount_micros, 0)) AS spent
       FROM audit_record LEFT JOIN ledger_entry AS refund ON refund.workspace_id = audit_record.workspace_id
         AND refund.run_id = audit_record.run_id AND refund.amount_micros > 0, unnest(budget_windows) AS budget_window
       GROUP BY budget_window
     ) AS billed ON budget_window = its.id WHERE spent_micros <> coalesce(spent, 0)`,
  );
  return [
    ...budgets.map(
      ({ name, counted, spent }) =>
        `I3 budget ${name} says ${counted} were spent, but its runs spent ${spent}`,
    ),
    ...refunds.map(({ run }) => `I3 the refund of run ${run} differs from its bill`),
    ...differing.map(({ id }) => `I3 run ${id} and its audit record disagree about the billed amount`),
    ...rows.map(
      (row) => `I3 workspace ${row.id} was billed ${row.billed}, but its ledger says ${row.entered}`,
    ),
  ];
}
