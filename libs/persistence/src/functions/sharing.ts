import { advisoryLocks } from '../locks.js';

/**
 * `share_run` makes the link of a run. `pin_sample` makes a run a sample of its model: it keeps, shares and lists the
 * run, or changes nothing.
 */
export const sharing = /* sql */ `
-- Returns the id of the link, which is a new one unless the run is shared already.
CREATE OR REPLACE FUNCTION share_run(shared_id uuid, space_id uuid, model_id text) RETURNS uuid LANGUAGE sql AS $$
  INSERT INTO shared_run (run_id, workspace_id, model, share_id, shared_at)
  VALUES (shared_id, space_id, model_id, gen_random_uuid(), router_now())
  -- The update that changes nothing returns the row.
  ON CONFLICT (run_id) DO UPDATE SET share_id = shared_run.share_id RETURNING share_id
$$;

-- Returns 'kept', also for a sample, 'not_allowed' if the workspace does not allow samples, 'samples' if the model has max_samples, and otherwise what keep_run returns.
CREATE OR REPLACE FUNCTION pin_sample(
  space_id uuid, pinned_id uuid, model_id text, object_keys text[], object_bytes bigint[], kept_s double precision, max_samples integer,
  actor text
) RETURNS TABLE (result text, max_allowed bigint) LANGUAGE plpgsql AS $$
DECLARE
  kept record;
BEGIN
  PERFORM pg_advisory_xact_lock(${advisoryLocks.modelSamples}, hashtext(model_id));
  IF EXISTS (SELECT FROM model_sample WHERE run_id = pinned_id) THEN
    RETURN QUERY SELECT 'kept', NULL::bigint;
    RETURN;
  ELSIF NOT (SELECT allow_samples FROM workspace WHERE id = space_id) THEN
    RETURN QUERY SELECT 'not_allowed', NULL::bigint;
    RETURN;
  ELSIF (SELECT count(*) FROM model_sample WHERE model = model_id) >= max_samples THEN
    RETURN QUERY SELECT 'samples', max_samples::bigint;
    RETURN;
  END IF;
  SELECT * INTO kept FROM keep_run(space_id, pinned_id, object_keys, object_bytes, kept_s);
  IF kept.result = 'kept' THEN
    INSERT INTO model_sample (run_id, share_id, model, pinned_at)
    VALUES (pinned_id, share_run(pinned_id, space_id, model_id), model_id, router_now());
    INSERT INTO operator_action (actor, action, subject, details)
    SELECT pin_sample.actor, 'sample.pin', pinned_id::text, jsonb_build_object('workspace', name, 'model', model_id)
    FROM workspace WHERE id = space_id;
  END IF;
  RETURN QUERY SELECT kept.result, kept.max_allowed WHERE kept.result IS NOT NULL;
END $$;
`;
