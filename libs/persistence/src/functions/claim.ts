/**
 * `claim(run, lease)`: makes the caller the run's only dispatcher until the lease ends. Answers
 * `claimed` (with facts and input), `abandoned` (a former claimant died with the submission in the air:
 * whether the partner accepted it is unknown), `held` (somebody else's lease still stands, or the provider is paused)
 * or `gone`. What an answer does not need is null.
 */
export const claim = /* sql */ `
CREATE FUNCTION claim(claimed_id uuid, lease interval)
RETURNS TABLE (kind text, epoch integer, provider text, model text, facts jsonb, crashes integer, left_ms integer,
  body bytea, stored_as text, free_in_ms integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  mine run%ROWTYPE;
BEGIN
  SELECT * INTO mine FROM run WHERE id = claimed_id FOR UPDATE;
  IF NOT FOUND OR mine.stage NOT IN ('ready', 'submitting') THEN
    kind := 'gone';
    RETURN NEXT;
    RETURN;
  ELSIF mine.lease_until > clock_timestamp() THEN
    kind := 'held';
    free_in_ms := ceil(extract(epoch FROM mine.lease_until - clock_timestamp()) * 1000);
    RETURN NEXT;
    RETURN;
  ELSIF mine.stage = 'ready' AND EXISTS (SELECT 1 FROM provider_pause AS pause WHERE pause.provider = mine.provider) THEN
    -- The end of the pause makes the row due at once.
    UPDATE delivery SET due_at = clock_timestamp() + interval '60 seconds' WHERE run_id = claimed_id;
    kind := 'held';
    free_in_ms := 50000;
    RETURN NEXT;
    RETURN;
  END IF;
  UPDATE run SET epoch = epoch + 1, lease_until = clock_timestamp() + lease,
    crashes = crashes + CASE WHEN lease_until IS NULL THEN 0 ELSE 1 END
  WHERE id = claimed_id RETURNING * INTO mine;
  RETURN QUERY SELECT CASE WHEN mine.sent_at IS NULL THEN 'claimed' ELSE 'abandoned' END, mine.epoch, mine.provider,
    mine.model, mine.facts, mine.crashes, (extract(epoch FROM mine.deadline_at - clock_timestamp()) * 1000)::integer,
    input.body, input.stored_as, 0
  FROM payload AS input WHERE input.run_id = mine.id AND input.kind = 'input';
END $$;
`;
