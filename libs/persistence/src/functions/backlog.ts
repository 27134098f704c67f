/**
 * A run's position in its workspace's line is counted without reading the whole line. Parked runs are grouped in
 * chunks of about `backlog_chunk_size()`, each with the number of runs left in it. `waiting_ahead` adds up the
 * chunks ahead and counts the rows of one chunk. Chunks, like the backlog, change only under the lock of the
 * workspace row.
 *
 * Granted runs that are not yet dispatched are counted one by one, because a dispatch does not take that lock.
 * There are at most as many as slots, and counting stops at 1,000. An admission would count them while it holds the
 * lock, so `count_undispatched` counts more than 20 only once a second and stores the number in the workspace row.
 * Admission and promotion add the runs that they grant. Until the next count, the number is too high by the runs
 * that were dispatched or ended since. A status request counts every time.
 */
export const backlog = /* sql */ `
CREATE OR REPLACE FUNCTION backlog_chunk_size() RETURNS integer LANGUAGE sql IMMUTABLE RETURN 250;

CREATE OR REPLACE FUNCTION granted_ahead(space_id uuid, before_place bigint) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT count(*)::integer FROM (
    SELECT FROM outbox WHERE workspace_id = space_id AND NOT dispatched AND queue = 'dispatch' AND place < before_place
    ORDER BY place LIMIT 1000
  ) AS granted
$$;

-- Returns the workspace, whose row is locked, with the number of its undispatched runs.
CREATE OR REPLACE FUNCTION count_undispatched(space workspace, this_moment timestamptz) RETURNS workspace LANGUAGE plpgsql AS $$
BEGIN
  -- Counts again if the last count was dated by a clock that ran ahead.
  IF space.undispatched > 20 AND this_moment - space.undispatched_counted_at BETWEEN '0' AND interval '1 second' THEN
    space.undispatched := least(space.undispatched, space.inflight, 1000);
  ELSE
    space.undispatched := CASE WHEN space.inflight = 0 THEN 0 ELSE granted_ahead(space.id, 9223372036854775807) END;
    space.undispatched_counted_at := this_moment;
  END IF;
  RETURN space;
END $$;

CREATE OR REPLACE FUNCTION chunk_of(space_id uuid, of_place bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT max(first_place) FROM backlog_chunk WHERE workspace_id = space_id AND first_place <= of_place
$$;

CREATE OR REPLACE FUNCTION waiting_ahead(space_id uuid, before_place bigint) RETURNS integer LANGUAGE sql STABLE AS $$
  WITH chunk AS (SELECT chunk_of(space_id, before_place) AS first)
  SELECT granted_ahead(space_id, before_place)
    + (SELECT coalesce(sum(runs), 0)::integer FROM backlog_chunk, chunk WHERE workspace_id = space_id AND first_place < first)
    + (SELECT count(*)::integer FROM outbox, chunk WHERE workspace_id = space_id AND NOT dispatched AND queue = 'backlog'
        AND place >= first AND place < before_place)
$$;

CREATE OR REPLACE FUNCTION enter_backlog(space_id uuid, from_place bigint, entered integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE backlog_chunk SET runs = runs + entered
  WHERE workspace_id = space_id AND first_place = chunk_of(space_id, from_place) AND runs < backlog_chunk_size();
  IF NOT FOUND THEN
    INSERT INTO backlog_chunk (workspace_id, first_place, runs) VALUES (space_id, from_place, entered);
  END IF;
END $$;

CREATE OR REPLACE FUNCTION leave_backlog(space_id uuid, left_place bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  first bigint := chunk_of(space_id, left_place);
BEGIN
  DELETE FROM backlog_chunk WHERE workspace_id = space_id AND first_place = first AND runs = 1;
  IF NOT FOUND THEN
    UPDATE backlog_chunk SET runs = runs - 1 WHERE workspace_id = space_id AND first_place = first;
  END IF;
END $$;
`;
