-- without a transaction
CREATE TABLE IF NOT EXISTS joined_call (
  workspace_id uuid NOT NULL,
  -- The call that joined, collected or repeated the run with the run's Idempotency-Key.
  call_id uuid NOT NULL,
  run_id uuid NOT NULL,
  PRIMARY KEY (workspace_id, call_id)
);
DROP INDEX CONCURRENTLY IF EXISTS joined_call_run;
CREATE INDEX CONCURRENTLY joined_call_run ON joined_call (run_id, call_id);
DROP INDEX CONCURRENTLY IF EXISTS audit_record_call;
CREATE INDEX CONCURRENTLY audit_record_call ON audit_record (request_id);
