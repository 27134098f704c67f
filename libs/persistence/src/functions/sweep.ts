/**
 * Sweeps move runs that wait for dispatch as time passes. Every worker sweeps once a second, each row is swept by
 * one worker, and no concurrency slot is needed. Both functions change up to `most` rows and return the runs that
 * the caller must record or end: `lapsed` (its worker died before the submission, so it waits again), `abandoned`
 * (its worker died during the submission, so it is unknown whether the provider accepted it) and `spent` (a pause
 * outlasted its time budget). The last two are claimed so that the caller can end them.
 *
 * An expired lease does not prove a death if workers could not renew leases. The lease of a submission in flight is
 * not judged before `judges_from`. The lease of a claim before its submission always is, because a worker that was
 * suspended can no longer begin the submission. A statement that runs more than 2 s after `asked_at`, because the
 * database was frozen in between, does nothing.
 *
 * `wake_overdue(most, lease, asked_at, judges_from)` makes runs whose pause or lease has ended wait for a worker
 * again.
 *
 * `postpone_paused(most, lease, asked_at)` postpones runs that wait for a paused provider until the pause ends. A
 * provider's pause counts against the time budget of a run, so that a provider which rejects calls for an hour does
 * not hold callers for an hour. A run that was never sent gets this limit here, and a new one with its submission.
 * An operator's pause does not count against the budget of a run that was never sent. A run with patience is `spent` at
 * once if the pause outlasts it.
 */
export const sweep = /* sql */ `
-- Claims a run in order to finish it.
CREATE OR REPLACE FUNCTION claim_to_end(ended run, lease interval) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  ends timestamptz := router_now() + lease;
BEGIN
  UPDATE outbox SET waiting = false, dispatched = true, due_at = ends WHERE workspace_id = ended.workspace_id AND run_id = ended.id;
  UPDATE run SET epoch = epoch + 1, lease_until = ends WHERE id = ended.id;
  RETURN ended.epoch + 1;
END $$;

CREATE OR REPLACE FUNCTION wake_overdue(most integer, lease interval, asked_at timestamptz, judges_from timestamptz)
RETURNS TABLE (kind text, run_id uuid, epoch integer, workspace_id uuid, provider text, model text, facts jsonb) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  this_moment timestamptz := router_now();
  overdue_id uuid;
  mine run%ROWTYPE;
  lease_ends timestamptz;
BEGIN
  IF this_moment > asked_at + interval '2 seconds' THEN
    RETURN;
  END IF;
  FOR overdue_id IN
    SELECT run_id FROM outbox WHERE due_at <= router_statement_now() AND queue = 'dispatch' ORDER BY due_at LIMIT most
  LOOP
    SELECT * INTO mine FROM run WHERE id = overdue_id FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND OR mine.stage NOT IN ('ready', 'submitting');
    lease_ends := CASE WHEN mine.sent_at IS NULL THEN mine.lease_until
      WHEN mine.lease_until IS NOT NULL THEN greatest(mine.lease_until, judges_from) END;
    IF lease_stands(lease_ends, lease, this_moment) THEN
      UPDATE outbox SET due_at = lease_ends
      WHERE workspace_id = mine.workspace_id AND run_id = mine.id AND due_at <= router_now();
      CONTINUE;
    END IF;
    IF mine.sent_at IS NOT NULL THEN
      mine.epoch := claim_to_end(mine, lease);
    ELSE
      UPDATE outbox SET waiting = true, dispatched = mine.dispatched_at IS NOT NULL, due_at = 'infinity'
      WHERE workspace_id = mine.workspace_id AND run_id = mine.id AND due_at <= router_now();
      CONTINUE WHEN NOT FOUND OR mine.lease_until IS NULL;
      UPDATE run SET lease_until = NULL, crashes = crashes + 1 WHERE id = mine.id;
    END IF;
    RETURN QUERY SELECT CASE WHEN mine.sent_at IS NULL THEN 'lapsed' ELSE 'abandoned' END,
      mine.id, mine.epoch, mine.workspace_id, mine.provider, mine.model, mine.facts;
  END LOOP;
END $$;

CREATE OR REPLACE FUNCTION postpone_paused(most integer, lease interval, asked_at timestamptz)
RETURNS TABLE (kind text, run_id uuid, epoch integer, workspace_id uuid, provider text, model text, facts jsonb) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  pause record;
  waiting_id uuid;
  mine run%ROWTYPE;
  this_moment timestamptz := router_now();
  rests_ms integer;
  patience interval;
  ends timestamptz;
BEGIN
  IF this_moment > asked_at + interval '2 seconds' THEN
    RETURN;
  END IF;
  FOR pause IN
    SELECT provider, bool_or(asked_by = 'operator') AS by_operator FROM provider_pause
    WHERE calls = 'submit' AND until > router_now() GROUP BY provider
  LOOP
    -- Holds off a resume, which would wake these rows just before they are postponed.
    PERFORM FROM provider_pause WHERE provider = pause.provider FOR KEY SHARE;
    FOR waiting_id IN
      SELECT run_id FROM outbox WHERE waiting AND provider = ANY (
        CASE WHEN pause.by_operator THEN lines_of(pause.provider) ELSE ARRAY[pause.provider] END) LIMIT most
    LOOP
      SELECT * INTO mine FROM run WHERE id = waiting_id FOR UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND OR mine.stage NOT IN ('ready', 'submitting') OR pause.provider NOT IN (mine.provider, line_of(mine.provider, mine.workspace_id, mine.facts))
        OR lease_stands(mine.lease_until, lease, this_moment);
      rests_ms := paused_ms(pause.provider, 'submit');
      EXIT WHEN rests_ms IS NULL;
      mine.deadline_at := CASE WHEN pause.by_operator AND mine.dispatched_at IS NULL THEN NULL
        ELSE coalesce(mine.deadline_at, this_moment + least((mine.facts ->> 'budgetMs')::bigint, (mine.facts ->> 'patienceMs')::bigint) * interval '1 millisecond') END;
      -- The deadline of a run that was sent also bounds its next submission, so only its wait ends with the patience.
      patience := (mine.facts ->> 'patienceMs')::bigint * interval '1 millisecond';
      ends := least(mine.deadline_at, mine.dispatched_at + patience);
      IF mine.sent_at IS NOT NULL OR ends <= this_moment OR (patience IS NOT NULL AND ends < this_moment + rests_ms * interval '1 millisecond') THEN
        RETURN QUERY SELECT CASE WHEN mine.sent_at IS NULL THEN 'spent' ELSE 'abandoned' END,
          mine.id, claim_to_end(mine, lease), mine.workspace_id, mine.provider, mine.model, mine.facts;
        CONTINUE;
      END IF;
      -- A row is postponed by at most two hours.
      UPDATE outbox SET waiting = false, due_at = this_moment + least(rests_ms, milliseconds_left(ends), 7200000) * interval '1 millisecond'
      WHERE workspace_id = mine.workspace_id AND run_id = mine.id AND waiting;
      IF FOUND THEN
        UPDATE run SET deadline_at = mine.deadline_at WHERE id = mine.id AND deadline_at IS DISTINCT FROM mine.deadline_at;
      END IF;
    END LOOP;
  END LOOP;
END $$;
`;
