-- without a transaction
-- The audit records of closed hours, added up by hour and by day. usage_progress says up to which hour.
CREATE TABLE IF NOT EXISTS usage_sum (
  workspace_id uuid NOT NULL,
  unit text NOT NULL CHECK (unit IN ('hour', 'day')),
  -- The start of the hour or day, in UTC.
  at timestamptz NOT NULL,
  model text NOT NULL,
  -- 'key:<id>', or 'token' for all access tokens.
  credential text NOT NULL,
  runs bigint NOT NULL,
  succeeded bigint NOT NULL,
  billed_micros bigint NOT NULL,
  PRIMARY KEY (workspace_id, unit, at, model, credential)
);
CREATE INDEX IF NOT EXISTS usage_sum_age ON usage_sum USING brin (at) WITH (pages_per_range = 16);
CREATE TABLE IF NOT EXISTS usage_progress (
  workspace_id uuid PRIMARY KEY,
  until timestamptz NOT NULL
);
-- A list with any one filter reads an index from the newest matching run on.
DROP INDEX CONCURRENTLY IF EXISTS audit_record_model;
CREATE INDEX CONCURRENTLY audit_record_model ON audit_record (workspace_id, model, run_id);
DROP INDEX CONCURRENTLY IF EXISTS audit_record_credential;
CREATE INDEX CONCURRENTLY audit_record_credential ON audit_record (workspace_id, credential, run_id);
DROP INDEX CONCURRENTLY IF EXISTS audit_record_outcome;
CREATE INDEX CONCURRENTLY audit_record_outcome ON audit_record (workspace_id, outcome, run_id);
DROP INDEX CONCURRENTLY IF EXISTS audit_record_bucket;
CREATE INDEX CONCURRENTLY audit_record_bucket ON audit_record (workspace_id, bucket, run_id) WHERE bucket IS NOT NULL;
