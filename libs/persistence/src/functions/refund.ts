/**
 * `refund_run` returns a run's billed amount to the credits of its workspace, or the reason for a refusal. Bill and
 * refund outlive the run's row. The unique index `ledger_entry_refund` decides between concurrent calls.
 */
export const refund = /* sql */ `
-- refused: 'unknown', 'live', 'deleted_workspace', 'not_billed' or 'refunded'. balance: null for unlimited credits.
CREATE OR REPLACE FUNCTION refund_run(refunded_id uuid, actor text, reason text)
RETURNS TABLE (refused text, space uuid, space_name text, model text, amount bigint, balance bigint) LANGUAGE plpgsql
-- The audit records are found by workspace and run. Reading all of them would take too long.
SET enable_seqscan = off AS $$
DECLARE
  windows bigint[];
  -- The time in the id. A run is billed after its admission, so this bounds the search.
  admitted_at timestamptz := to_timestamp(('x' || left(replace(refunded_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);
BEGIN
  SELECT audit.workspace_id, audit.model, audit.billed_micros, audit.budget_windows INTO space, refund_run.model, amount, windows
  FROM workspace JOIN audit_record AS audit ON audit.workspace_id = workspace.id AND audit.run_id = refunded_id;
  IF space IS NULL THEN
    SELECT CASE WHEN run.stage <> 'completed' THEN 'live' END INTO refused FROM run WHERE run.id = refunded_id;
    IF refused IS NOT NULL THEN
      RETURN NEXT;
      RETURN;
    END IF;
    SELECT entry.workspace_id, split_part(entry.note, ' by ', 1), -entry.amount_micros INTO space, refund_run.model, amount FROM ledger_entry AS entry
    WHERE entry.at >= admitted_at - interval '1 minute' AND entry.run_id = refunded_id AND entry.amount_micros < 0 LIMIT 1;
  END IF;
  SELECT workspace.name, workspace.balance_micros + amount INTO space_name, balance FROM workspace
  WHERE workspace.id = space FOR NO KEY UPDATE;
  refused := CASE WHEN space IS NULL THEN 'unknown' WHEN space_name IS NULL THEN 'deleted_workspace'
    WHEN amount = 0 THEN 'not_billed' END;
  IF refused IS NULL THEN
    INSERT INTO ledger_entry (workspace_id, run_id, amount_micros, balance_micros, note)
    VALUES (space, refunded_id, amount, balance, reason)
    ON CONFLICT (workspace_id, run_id) WHERE run_id IS NOT NULL AND amount_micros > 0 DO NOTHING;
    IF FOUND THEN
      UPDATE workspace SET balance_micros = balance WHERE workspace.id = space;
      -- In the windows of the run's admission, if they still exist.
      UPDATE budget_window SET spent_micros = spent_micros - amount WHERE id = ANY (windows);
      INSERT INTO operator_action (actor, action, subject, details) VALUES (refund_run.actor, 'run.refund', refunded_id::text,
        jsonb_build_object('workspace', space_name, 'amount_micros', amount, 'note', reason));
    ELSE
      refused := 'refunded';
    END IF;
  END IF;
  RETURN NEXT;
END $$;
`;
