/**
 * `claim(run, lease, waits)`: makes the caller the run's only dispatcher until the lease ends. Answers
 * `claimed` (with facts and input), `abandoned` (a former claimant died with the submission in the air:
 * whether the provider accepted it is unknown), `held` (somebody else's lease still stands, or the provider is paused)
 * or `gone`; nothing for a row that is locked when it does not wait. What an answer does not need is null.
 *
 * A provider's pause counts against the budget of a run, so that one who refuses for an hour does not hold callers for
 * an hour: a run that was never sent is given the limit here, and a new one with its submission. Under a pause that
 * outlasts it the run is claimed with no time left. An operator's pause costs a run that was never sent nothing.
 */
export const claim = /* sql */ `
CREATE OR REPLACE FUNCTION claim(claimed_id uuid, lease interval, waits boolean)
RETURNS TABLE (kind text, epoch integer, workspace_id uuid, provider text, model text, facts jsonb, crashes integer, left_ms integer,
  body bytea, stored_as text, free_in_ms integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  mine run%ROWTYPE;
  paused integer;
  this_moment timestamptz;
BEGIN
  IF waits THEN
    SELECT * INTO mine FROM run WHERE id = claimed_id FOR UPDATE;
  ELSE
    SELECT * INTO mine FROM run WHERE id = claimed_id FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN;
    END IF;
  END IF;
  IF NOT FOUND OR mine.stage NOT IN ('ready', 'submitting') THEN
    kind := 'gone';
    RETURN NEXT;
    RETURN;
  -- No lease lasts this long: one that seems to was dated by a clock that was ahead, and its worker would have renewed it.
  ELSIF mine.lease_until > router_now() AND mine.lease_until < router_now() + lease + interval '1 hour' THEN
    kind := 'held';
    free_in_ms := milliseconds_left(mine.lease_until);
    RETURN NEXT;
    RETURN;
  END IF;
  paused := CASE WHEN mine.sent_at IS NULL THEN paused_ms(mine.provider, 'submit') END;
  IF paused IS NOT NULL THEN
    this_moment := router_now();
    IF mine.dispatched_at IS NULL AND EXISTS (
      SELECT 1 FROM provider_pause AS pause
      WHERE pause.provider = mine.provider AND pause.calls = 'submit' AND pause.asked_by = 'operator'
    ) THEN
      mine.deadline_at := NULL;
    ELSE
      mine.deadline_at := coalesce(mine.deadline_at, this_moment + (mine.facts ->> 'budgetMs')::bigint * interval '1 millisecond');
    END IF;
    IF mine.deadline_at IS NULL OR mine.deadline_at > this_moment THEN
      UPDATE run SET deadline_at = mine.deadline_at WHERE id = claimed_id AND deadline_at IS DISTINCT FROM mine.deadline_at;
      kind := 'held';
      free_in_ms := least(paused, milliseconds_left(mine.deadline_at));
      -- The end of an operator's pause makes the row due at once. No row is put off for longer than two hours.
      UPDATE outbox SET due_at = this_moment + (least(free_in_ms, 7190000) + 10000) * interval '1 millisecond'
      WHERE outbox.workspace_id = mine.workspace_id AND run_id = claimed_id;
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;
  UPDATE run SET epoch = epoch + 1, lease_until = router_now() + lease,
    crashes = crashes + CASE WHEN lease_until IS NULL THEN 0 ELSE 1 END
  WHERE id = claimed_id RETURNING * INTO mine;
  RETURN QUERY SELECT CASE WHEN mine.sent_at IS NULL THEN 'claimed' ELSE 'abandoned' END, mine.epoch, mine.workspace_id,
    mine.provider, mine.model, mine.facts, mine.crashes,
    CASE WHEN mine.dispatched_at IS NOT NULL OR paused IS NOT NULL
      THEN milliseconds_left(mine.deadline_at) END,
    input.body, input.stored_as, 0
  FROM payload AS input WHERE input.run_id = mine.id AND input.kind = 'input';
END $$;

-- Write-ahead of a submission under a claim, whose lease is renewed: whether the claim still stood. Null for a row that is
-- locked when it does not wait.
CREATE OR REPLACE FUNCTION begin_submission(begun_id uuid, claimed_epoch integer, lease interval, waits boolean)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  this_moment timestamptz := router_now();
  space_id uuid;
BEGIN
  IF NOT waits THEN
    PERFORM FROM run WHERE id = begun_id FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
  END IF;
  UPDATE run SET stage = 'submitting', sent_at = this_moment, dispatched_at = coalesce(dispatched_at, this_moment),
    deadline_at = CASE WHEN dispatched_at IS NULL
      THEN this_moment + (facts ->> 'budgetMs')::bigint * interval '1 millisecond' ELSE deadline_at END,
    lease_until = this_moment + lease
  WHERE id = begun_id AND epoch = claimed_epoch AND stage IN ('ready', 'submitting') AND sent_at IS NULL
  RETURNING workspace_id INTO space_id;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE outbox SET dispatched = true, waiting = false, due_at = this_moment + lease
  WHERE workspace_id = space_id AND run_id = begun_id;
  RETURN FOUND;
END $$;
`;
