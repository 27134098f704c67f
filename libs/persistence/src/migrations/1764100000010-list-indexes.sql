-- without a transaction
-- A list with any one filter reads an index from the newest matching run on.
DROP INDEX CONCURRENTLY IF EXISTS audit_record_model;
CREATE INDEX CONCURRENTLY audit_record_model ON audit_record (workspace_id, model, run_id);
DROP INDEX CONCURRENTLY IF EXISTS audit_record_credential;
CREATE INDEX CONCURRENTLY audit_record_credential ON audit_record (workspace_id, credential, run_id);
DROP INDEX CONCURRENTLY IF EXISTS audit_record_outcome;
CREATE INDEX CONCURRENTLY audit_record_outcome ON audit_record (workspace_id, outcome, run_id);
DROP INDEX CONCURRENTLY IF EXISTS audit_record_bucket;
CREATE INDEX CONCURRENTLY audit_record_bucket ON audit_record (workspace_id, bucket, run_id) WHERE bucket IS NOT NULL;
