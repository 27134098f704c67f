-- without a transaction
DROP INDEX CONCURRENTLY IF EXISTS operator_action_time;
CREATE INDEX CONCURRENTLY operator_action_time ON operator_action (at, id);
DROP INDEX CONCURRENTLY IF EXISTS operator_action_subject;
CREATE INDEX CONCURRENTLY operator_action_subject ON operator_action (subject, at, id);
-- A run is refunded at most once: no other entry with a run adds credits.
DROP INDEX CONCURRENTLY IF EXISTS ledger_entry_refund;
CREATE UNIQUE INDEX CONCURRENTLY ledger_entry_refund ON ledger_entry (workspace_id, run_id)
  WHERE run_id IS NOT NULL AND amount_micros > 0;
