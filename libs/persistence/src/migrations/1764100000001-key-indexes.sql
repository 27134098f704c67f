-- without a transaction
DROP INDEX CONCURRENTLY IF EXISTS api_key_made_by;
CREATE INDEX CONCURRENTLY api_key_made_by ON api_key (made_by);
DROP INDEX CONCURRENTLY IF EXISTS api_key_workspace;
CREATE INDEX CONCURRENTLY api_key_workspace ON api_key (workspace_id, id);
DROP INDEX CONCURRENTLY IF EXISTS api_key_expired;
CREATE INDEX CONCURRENTLY api_key_expired ON api_key (expires_at);
DROP INDEX CONCURRENTLY IF EXISTS api_key_revoked;
CREATE INDEX CONCURRENTLY api_key_revoked ON api_key (revoked_at);
DROP INDEX CONCURRENTLY IF EXISTS api_key_session;
CREATE INDEX CONCURRENTLY api_key_session ON api_key (session_until);
