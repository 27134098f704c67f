import { advisoryLocks } from '../locks.js';

/**
 * `keep_run` keeps the payloads and the objects of a run that succeeded until `unkeep_run`. The objects belong to the
 * workspace meanwhile: retention leaves them alone, and they count in its limits of files. Both take the lock of its
 * files before any row, and erasure does too, so that a deleted run is never kept.
 */
export const keptRuns = /* sql */ `
-- Returns 'kept', also for a run that is kept already, or why not: 'live', 'failed', 'expired', 'period' if the workspace has a
-- shorter period for results, and 'files' or 'bytes' with the limit that was reached. Null for an unknown run.
CREATE OR REPLACE FUNCTION keep_run(space_id uuid, kept_id uuid, object_keys text[], object_bytes bigint[], kept_s double precision)
RETURNS TABLE (result text, max_allowed bigint) LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  space workspace%ROWTYPE;
  ended record;
  files bigint;
  taken bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(${advisoryLocks.fileReservation}, hashtext(space_id::text));
  SELECT * INTO STRICT space FROM workspace WHERE id = space_id;
  IF EXISTS (SELECT FROM kept_run WHERE run_id = kept_id AND workspace_id = space_id) THEN
    RETURN QUERY SELECT 'kept', NULL::bigint;
    RETURN;
  END IF;
  SELECT stage, outcome, completed_at INTO ended FROM run WHERE id = kept_id AND workspace_id = space_id;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'expired', NULL::bigint FROM audit_record WHERE run_id = kept_id AND workspace_id = space_id;
    RETURN;
  END IF;
  SELECT count(*), coalesce(sum(bytes), 0) INTO files, taken FROM stored_object
  WHERE workspace_id = space_id AND NOT deleting AND delete_at > router_now();
  files := files + (SELECT count(*) FROM kept_run WHERE workspace_id = space_id);
  RETURN QUERY SELECT why, limited FROM (VALUES
    (1, 'live', NULL::bigint, ended.stage <> 'completed'),
    (2, 'expired', NULL, age_of(ended.completed_at, kept_s, 0) <> 'kept'),
    (3, 'failed', NULL, ended.outcome <> 'succeeded'),
    (4, 'period', NULL, space.result_retention_seconds < kept_s),
    (5, 'files', space.file_limit::bigint, files + cardinality(object_keys) >= space.file_limit),
    (6, 'bytes', space.file_bytes_limit, taken + coalesce((SELECT sum(size) FROM unnest(object_bytes) AS size), 0) > space.file_bytes_limit)
  ) AS reasons (nth, why, limited, applies) WHERE applies ORDER BY nth LIMIT 1;
  IF FOUND THEN
    RETURN;
  END IF;
  -- Before the run, as age_out locks them.
  UPDATE stored_object SET workspace_id = space_id, bytes = coalesce(object_bytes[array_position(object_keys, key)], 0)
  WHERE owner_id = kept_id AND workspace_id IS NULL AND NOT deleting AND delete_at = 'infinity';
  INSERT INTO kept_run (run_id, workspace_id, model, completed_at, kept_at)
  SELECT id, workspace_id, model, completed_at, router_now() FROM run WHERE id = kept_id FOR SHARE;
  IF NOT FOUND THEN
    UPDATE stored_object SET workspace_id = NULL, bytes = NULL WHERE owner_id = kept_id;
    RETURN QUERY SELECT 'expired', NULL::bigint;
    RETURN;
  END IF;
  INSERT INTO kept_payload (run_id, kind, media_type, body, stored_as)
  SELECT run_id, kind::text, media_type, body, stored_as FROM payload WHERE run_id = kept_id;
  RETURN QUERY SELECT 'kept', NULL::bigint;
END $$;

-- The run's own retention goes on. Returns whether the run was kept.
CREATE OR REPLACE FUNCTION unkeep_run(space_id uuid, kept_id uuid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(${advisoryLocks.fileReservation}, hashtext(space_id::text));
  DELETE FROM kept_run WHERE run_id = kept_id AND workspace_id = space_id;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE stored_object SET workspace_id = NULL, bytes = NULL, delete_at = CASE
      WHEN EXISTS (SELECT FROM run WHERE id = kept_id) THEN 'infinity' ELSE greatest(router_now(), link_expires_at)
    END
  WHERE owner_id = kept_id AND workspace_id = space_id AND NOT deleting;
  RETURN true;
END $$;
`;
