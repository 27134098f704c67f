import { advisoryLocks } from '../locks.js';

/**
 * Deletes the data of ended runs before their results expire: `erase_run` one run for its caller, `erase_expired` runs
 * of workspaces with a shorter period of their own. Rows, inputs, outputs, streams, failures and attempts go at once, and objects
 * become due for deletion, whether or not links to them still work. Audit records, ledger entries and webhooks stay, and
 * with them the run is listed and answers 410, like one whose result has expired.
 */
export const erasure = /* sql */ `
-- Runs of the workspace that have not ended are skipped. It locks rows in the order of age_out.
CREATE OR REPLACE FUNCTION erase_runs(space_id uuid, ids uuid[]) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  first_id uuid := (SELECT id FROM unnest(ids) AS id ORDER BY id LIMIT 1);
  last_id uuid := (SELECT id FROM unnest(ids) AS id ORDER BY id DESC LIMIT 1);
  erased uuid[] := ARRAY(
    SELECT id FROM run WHERE id = ANY (ids) AND id BETWEEN first_id AND last_id AND workspace_id = space_id AND stage = 'completed'
    ORDER BY id
  );
BEGIN
  UPDATE stored_object SET delete_at = router_now() WHERE owner_id = ANY (erased) AND workspace_id IS NULL AND NOT deleting;
  DELETE FROM payload WHERE run_id = ANY (erased) AND run_id BETWEEN first_id AND last_id;
  WITH gone AS (
    DELETE FROM run WHERE id = ANY (erased) AND id BETWEEN first_id AND last_id
    RETURNING id, workspace_id, model, completed_at, call, admitted_position
  )
  -- The key may be used again: without this, it would begin another run.
  INSERT INTO tombstone (run_id, workspace_id, model, completed_at, origin, admitted_position)
  SELECT id, workspace_id, model, completed_at, call ->> 'origin', admitted_position FROM gone WHERE call ? 'idempotencyKey';
  DELETE FROM run_attempts WHERE run_id = ANY (erased);
  DELETE FROM stream_piece WHERE run_id = ANY (erased);
  -- A receiver may have answered with what it was sent.
  UPDATE webhook SET attempts = '[]', payload = NULL WHERE run_id = ANY (erased);
  UPDATE provider_surprise SET reply = NULL, detail = 'The run of the newest reply was deleted.' WHERE run_id = ANY (erased);
END $$;

-- Returns 'erased', also for a run whose data is gone already, 'live' for one that has not ended, and null for an unknown one.
CREATE OR REPLACE FUNCTION erase_run(space_id uuid, erased_id uuid, actor text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  found_stage text;
BEGIN
  PERFORM unkeep_run(space_id, erased_id);
  found_stage := (SELECT stage FROM run WHERE id = erased_id AND workspace_id = space_id);
  IF found_stage IS NULL THEN
    -- A kept run may have outlived its row.
    UPDATE stored_object SET delete_at = router_now() WHERE owner_id = erased_id AND workspace_id IS NULL AND NOT deleting
      AND EXISTS (SELECT FROM audit_record WHERE workspace_id = space_id AND run_id = erased_id);
    RETURN (SELECT 'erased' FROM audit_record WHERE workspace_id = space_id AND run_id = erased_id);
  ELSIF found_stage <> 'completed' THEN
    RETURN 'live';
  END IF;
  PERFORM erase_runs(space_id, ARRAY[erased_id]);
  INSERT INTO operator_action (actor, action, subject, details)
  SELECT erase_run.actor, 'run.delete', erased_id::text, jsonb_build_object('workspace', name) FROM workspace WHERE id = space_id;
  RETURN 'erased';
END $$;

-- Goes through the next batch of ended runs of one workspace that has a period of its own, or was deleted, in the order in
-- which they ended, and returns its size. Runs that ended over kept_s seconds and three days ago no longer have rows.
CREATE OR REPLACE FUNCTION erase_expired(kept_s double precision, batch_rows integer) RETURNS integer LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
  space record;
  due uuid[];
  last_end timestamptz;
BEGIN
  IF NOT pg_try_advisory_xact_lock(${advisoryLocks.ageOut}) THEN
    RETURN 0;
  END IF;
  -- Kept before the workspace got its period.
  PERFORM unkeep_run(workspace_id, run_id) FROM (
    SELECT workspace_id, run_id FROM kept_run JOIN workspace ON id = workspace_id
    WHERE result_retention_seconds < kept_s AND completed_at <= router_now() - make_interval(secs => result_retention_seconds)
    LIMIT batch_rows
  ) AS kept;
  FOR space IN
    SELECT coalesce(id, workspace_id) AS id, id IS NULL AS is_deleted,
      CASE WHEN id IS NULL THEN 'infinity' ELSE router_now() - make_interval(secs => result_retention_seconds) END AS cutoff,
      greatest(coalesce(completed_at, '-infinity'), router_now() - make_interval(secs => kept_s) - interval '3 days') AS after_end,
      coalesce(run_id, '00000000-0000-0000-0000-000000000000') AS after_run
    FROM workspace FULL JOIN workspace_erasure ON workspace_id = id WHERE id IS NULL OR result_retention_seconds < kept_s
  LOOP
    SELECT array_agg(run_id ORDER BY completed_at, run_id), max(completed_at) INTO due, last_end FROM (
      SELECT run_id, completed_at FROM audit_record
      WHERE workspace_id = space.id AND completed_at <= space.cutoff AND (completed_at, run_id) > (space.after_end, space.after_run)
      ORDER BY completed_at, run_id LIMIT batch_rows
    ) AS batch;
    IF due IS NULL THEN
      DELETE FROM workspace_erasure WHERE workspace_id = space.id AND space.is_deleted;
      CONTINUE;
    END IF;
    PERFORM erase_runs(space.id, due);
    INSERT INTO workspace_erasure VALUES (space.id, last_end, due[cardinality(due)])
    ON CONFLICT (workspace_id) DO UPDATE SET completed_at = excluded.completed_at, run_id = excluded.run_id;
    RETURN cardinality(due);
  END LOOP;
  RETURN 0;
END $$;
`;
