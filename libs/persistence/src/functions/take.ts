/**
 * `take_run(run, lease)` claims a run that waits in its outbox row, exclusively, until the lease ends. Returns the
 * facts and the input of the run, or no row if another worker was faster or the run does not wait. `waited_ms` is
 * null after the first claim. A pause of the provider does not count as waiting.
 */
export const take = /* sql */ `
-- A lease that ends more than an hour after its duration was dated by a clock that ran ahead. A live worker would have renewed it.
CREATE OR REPLACE FUNCTION lease_stands(lease_until timestamptz, lease interval, this_moment timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN coalesce(lease_until > this_moment AND lease_until < this_moment + lease + interval '1 hour', false);

CREATE OR REPLACE FUNCTION take_run(waiting_id uuid, lease interval)
RETURNS TABLE (epoch integer, workspace_id uuid, model text, facts jsonb, crashes integer, left_ms integer, waited_ms float,
  body bytea, stored_as text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  mine run%ROWTYPE;
  this_moment timestamptz;
  ends timestamptz;
BEGIN
  -- Statements that lock both rows lock the run first.
  SELECT * INTO mine FROM run WHERE id = waiting_id FOR UPDATE SKIP LOCKED;
  IF NOT FOUND OR mine.stage NOT IN ('ready', 'submitting') THEN
    RETURN;
  END IF;
  this_moment := router_now();
  -- The previous release keeps the mark until the submission; the sweep handles this row later.
  IF mine.sent_at IS NOT NULL OR lease_stands(mine.lease_until, lease, this_moment) THEN
    UPDATE outbox SET waiting = false, due_at = coalesce(mine.lease_until, this_moment)
    WHERE outbox.workspace_id = mine.workspace_id AND run_id = waiting_id AND waiting;
    RETURN;
  END IF;
  ends := this_moment + lease;
  UPDATE outbox SET waiting = false, dispatched = true, due_at = ends
  WHERE outbox.workspace_id = mine.workspace_id AND run_id = waiting_id AND waiting;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  UPDATE run SET epoch = epoch + 1, provider_key = NULL, lease_until = ends, crashes = crashes + CASE WHEN lease_until IS NULL THEN 0 ELSE 1 END
  WHERE id = waiting_id RETURNING * INTO mine;
  RETURN QUERY SELECT mine.epoch, mine.workspace_id, mine.model, mine.facts, mine.crashes,
    CASE WHEN mine.dispatched_at IS NOT NULL THEN milliseconds_left(mine.deadline_at) END,
    CASE WHEN mine.epoch = 1 THEN milliseconds_between(greatest(mine.granted_at, (
      SELECT max(last_due(pause.since, pause.until)) FROM provider_pause AS pause
      WHERE pause.provider IN (mine.provider, line_of(mine.provider, mine.workspace_id, mine.facts)) AND pause.calls = 'submit'
    )), this_moment) END,
    input.body, input.stored_as
  FROM payload AS input WHERE input.run_id = waiting_id AND input.kind = 'input';
END $$;

-- Write-ahead of a submission: renews the lease and returns whether the claim was still valid. A run without a lease was given
-- back and waits for another worker. Returns null if the row is locked and the caller does not wait.
CREATE OR REPLACE FUNCTION begin_run(begun_id uuid, claimed_epoch integer, lease interval, waits boolean)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  this_moment timestamptz := router_now();
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
    AND lease_until IS NOT NULL;
  RETURN FOUND;
END $$;
`;
