/**
 * `ask_cancel(workspace, model, run)`: a run that was not sent to its partner is finished on the spot,
 * before the answer; otherwise the ask is recorded on the row. Returns null for an unknown run.
 */
export const askCancel = /* sql */ `
CREATE FUNCTION ask_cancel(space_id uuid, model_id text, asked_id uuid, ending jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  asked run%ROWTYPE;
  finished jsonb;
BEGIN
  PERFORM 1 FROM workspace WHERE id = space_id FOR NO KEY UPDATE;
  SELECT * INTO asked FROM run WHERE id = asked_id AND workspace_id = space_id AND model = model_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  ELSIF asked.stage = 'completed' THEN
    RETURN jsonb_build_object('found', 'completed', 'granted', '[]'::jsonb);
  ELSIF asked.sent_at IS NULL THEN
    finished := finish(asked.id, asked.epoch, ending, NULL);
    RETURN jsonb_build_object('found', 'waiting', 'granted', finished -> 'granted', 'record', finished -> 'record');
  END IF;
  UPDATE run SET cancel_asked_at = coalesce(cancel_asked_at, router_now()) WHERE id = asked.id;
  RETURN jsonb_build_object('found', 'dispatched', 'provider', asked.provider, 'granted', '[]'::jsonb);
END $$;
`;
