/**
 * `release_held_run(run, disconnected, ending)` is called when the caller of a held call no longer waits. It
 * withdraws a run that was not sent and that has no key, because its result could not be collected. Any other run
 * continues, and an equal call joins it if it has a row in `unkeyed_call`. Returns `completed`, `withdrawn` or `going_on`, the last with the pause between polls if a handle is
 * saved.
 */
export const releaseHeldRun = /* sql */ `
CREATE OR REPLACE FUNCTION release_held_run(held_id uuid, disconnected boolean, ending jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  held run%ROWTYPE;
  space_id uuid;
  finished jsonb;
BEGIN
  SELECT workspace_id INTO STRICT space_id FROM run WHERE id = held_id;
  PERFORM 1 FROM workspace WHERE id = space_id FOR NO KEY UPDATE;
  SELECT * INTO STRICT held FROM run WHERE id = held_id FOR UPDATE;
  IF held.stage = 'completed' THEN
    RETURN jsonb_build_object('found', 'completed', 'granted', '[]'::jsonb);
  END IF;
  IF disconnected THEN
    UPDATE run SET caller_left_at = coalesce(caller_left_at, router_now()) WHERE id = held_id;
  END IF;
  IF held.sent_at IS NULL AND held.call ->> 'idempotencyKey' IS NULL THEN
    finished := finish(space_id, held.id, held.epoch, ending);
    RETURN jsonb_build_object('found', 'withdrawn', 'granted', finished -> 'granted', 'record', finished -> 'record');
  END IF;
  UPDATE unkeyed_call SET held_by = NULL WHERE run_id = held_id;
  IF held.facts ? 'streams' AND held.call ->> 'idempotencyKey' IS NULL AND NOT FOUND THEN
    -- Nobody can collect the stream, and the provider bills it only as far as it gets.
    UPDATE run SET cancel_requested_at = coalesce(cancel_requested_at, router_now()) WHERE id = held_id;
  END IF;
  RETURN jsonb_build_object('found', 'going_on', 'granted', '[]'::jsonb,
    'pollAfterMs', CASE WHEN held.handle IS NOT NULL THEN held.poll_after_ms END);
END $$;
`;
