-- without a transaction
-- The runs that ended over an hour after their ids were made. A day of runs is dropped when their results have expired too.
DROP INDEX CONCURRENTLY IF EXISTS audit_record_late;
CREATE INDEX CONCURRENTLY audit_record_late ON audit_record (run_id)
  WHERE completed_at - to_timestamp(('x' || translate(left(run_id::text, 13), '-', ''))::bit(48)::bigint / 1000.0) > interval '1 hour';
