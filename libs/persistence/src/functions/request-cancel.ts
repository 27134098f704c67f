/**
 * `request_cancel(workspace, model, run)` finishes a run that was not sent to its provider before it returns. For
 * other runs it records the first request in the row and makes a poll due at once. Returns null for an unknown run.
 */
export const requestCancel = /* sql */ `
CREATE OR REPLACE FUNCTION request_cancel(space_id uuid, model_id text, requested_id uuid, ending jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  found_run run%ROWTYPE;
  finished jsonb;
BEGIN
  PERFORM 1 FROM workspace WHERE id = space_id FOR NO KEY UPDATE;
  SELECT * INTO found_run FROM run WHERE id = requested_id AND workspace_id = space_id AND model = model_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  ELSIF found_run.stage = 'completed' THEN
    RETURN jsonb_build_object('found', 'completed', 'granted', '[]'::jsonb);
  ELSIF found_run.sent_at IS NULL THEN
    finished := finish(space_id, found_run.id, found_run.epoch, ending);
    RETURN jsonb_build_object('found', 'waiting', 'granted', finished -> 'granted', 'record', finished -> 'record');
  END IF;
  UPDATE run SET cancel_requested_at = router_now() WHERE id = found_run.id AND cancel_requested_at IS NULL;
  IF NOT FOUND THEN
    RETURN jsonb_build_object('found', 'dispatched', 'isRepeated', true, 'granted', '[]'::jsonb);
  END IF;
  -- The next poll passes it on, because a poll in flight may have started before this request.
  UPDATE outbox SET due_at = router_now()
  WHERE workspace_id = space_id AND run_id = found_run.id AND queue = 'poll' AND attempts = 0;
  RETURN jsonb_build_object('found', 'dispatched', 'isRepeated', false, 'granted', '[]'::jsonb);
END $$;
`;
