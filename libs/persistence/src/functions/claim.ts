/**
 * `claim(run, lease, token, sends)`: makes the caller the run's only dispatcher until the lease ends. Answers
 * `claimed` (with facts and input), `abandoned` (a former claimant died with the submission in the air:
 * whether the partner accepted it is unknown), `held` (somebody else's lease still stands, or the provider is paused)
 * or `gone`. What an answer does not need is null.
 *
 * `token` is the caller's own, of this claim: a caller that did not hear the answer repeats the call and gets it again.
 * With `sends` the first claim of a run whose input lies in the database also begins its submission (`begun`): nothing
 * but building the call stands between the two. The caller must send at once, or `withdraw_submission`.
 *
 * A partner's pause counts against the budget of a run, so that one who refuses for an hour does not hold callers for
 * an hour: a run that was never sent is given the limit here, and a new one with its submission. Under a pause that
 * outlasts it the run is claimed with no time left. An operator's pause costs a run that was never sent nothing.
 */
export const claim = /* sql */ `
CREATE FUNCTION claim(claimed_id uuid, lease interval, token uuid, sends boolean)
RETURNS TABLE (kind text, epoch integer, workspace_id uuid, provider text, model text, facts jsonb, crashes integer, left_ms integer,
  body bytea, stored_as text, free_in_ms integer, begun boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  mine run%ROWTYPE;
  paused integer;
  is_repeated boolean;
  began_before boolean;
  this_moment timestamptz := router_now();
BEGIN
  SELECT * INTO mine FROM run WHERE id = claimed_id FOR UPDATE;
  is_repeated := coalesce(mine.claim_token = token, false);
  -- Only a first claim begins a submission; one that is abandoned has had a claim before.
  began_before := is_repeated AND mine.sent_at IS NOT NULL AND mine.epoch = 1;
  IF NOT FOUND OR mine.stage NOT IN ('ready', 'submitting') THEN
    kind := 'gone';
    RETURN NEXT;
    RETURN;
  ELSIF mine.lease_until > this_moment AND NOT is_repeated THEN
    kind := 'held';
    free_in_ms := ceil(extract(epoch FROM mine.lease_until - this_moment) * 1000);
    RETURN NEXT;
    RETURN;
  END IF;
  paused := CASE WHEN mine.sent_at IS NULL AND NOT is_repeated THEN paused_ms(mine.provider, 'submit') END;
  IF paused IS NOT NULL THEN
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
      free_in_ms := least(paused, ceil(extract(epoch FROM mine.deadline_at - this_moment) * 1000));
      -- The end of an operator's pause makes the row due at once.
      UPDATE outbox SET due_at = this_moment + (free_in_ms + 10000) * interval '1 millisecond' WHERE run_id = claimed_id;
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;
  SELECT payload.body, payload.stored_as INTO body, stored_as FROM payload
  WHERE payload.run_id = claimed_id AND payload.kind = 'input';
  kind := CASE WHEN mine.sent_at IS NULL OR began_before THEN 'claimed' ELSE 'abandoned' END;
  left_ms := CASE WHEN mine.dispatched_at IS NOT NULL AND NOT began_before OR paused IS NOT NULL
    THEN (extract(epoch FROM mine.deadline_at - this_moment) * 1000)::integer END;
  -- A run that comes back takes its steps one by one: its former claim may have ended in the middle of any.
  begun := sends AND stored_as IS NULL AND mine.deadline_at IS NULL AND mine.epoch = 0;
  IF begun THEN
    UPDATE run SET epoch = 1, claim_token = token, lease_until = this_moment + lease, stage = 'submitting',
      sent_at = this_moment, dispatched_at = this_moment,
      deadline_at = this_moment + (run.facts ->> 'budgetMs')::bigint * interval '1 millisecond'
    WHERE id = claimed_id RETURNING * INTO mine;
    UPDATE outbox SET dispatched = true, waiting = false, due_at = this_moment + lease WHERE run_id = claimed_id;
  ELSE
    UPDATE run SET claim_token = token, lease_until = this_moment + lease,
      epoch = epoch + CASE WHEN is_repeated THEN 0 ELSE 1 END,
      crashes = crashes + CASE WHEN is_repeated OR lease_until IS NULL THEN 0 ELSE 1 END
    WHERE id = claimed_id RETURNING * INTO mine;
    begun := began_before;
  END IF;
  epoch := mine.epoch;
  workspace_id := mine.workspace_id;
  provider := mine.provider;
  model := mine.model;
  facts := mine.facts;
  crashes := mine.crashes;
  RETURN NEXT;
END $$;
`;
