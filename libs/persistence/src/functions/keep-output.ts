/**
 * `keep_output(run, epoch, media type, body, stored as, reported micros, rest)` stores the output of a finished,
 * paid run unchanged while a job copies its assets. The outbox row becomes due after `rest`. Returns false
 * if the claim was lost.
 */
export const keepOutput = /* sql */ `
CREATE OR REPLACE FUNCTION keep_output(kept_id uuid, claimed_epoch integer, media text, body bytea, stored text,
  reported bigint, rest interval)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  space_id uuid;
BEGIN
  UPDATE run SET stage = 'copying', output_at = router_now(), lease_until = NULL,
    reported_micros = coalesce(reported, reported_micros)
  WHERE id = kept_id AND epoch = claimed_epoch AND stage IN ('submitting', 'running') RETURNING workspace_id INTO space_id;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO payload (run_id, kind, media_type, body, stored_as) VALUES (kept_id, 'output', media, body, stored);
  IF stored IS NOT NULL THEN
    PERFORM need_objects(ARRAY[stored]);
  END IF;
  UPDATE outbox SET queue = 'assets', due_at = router_now() + rest, attempts = 0
  WHERE workspace_id = space_id AND run_id = kept_id;
  RETURN true;
END $$;
`;
