import { advisoryLocks } from '../locks.js';

/** Removes aged-out rows: runs in batches, then the empty partitions of a day as a whole. */
export const retention = /* sql */ `
-- 'kept' while the result can be collected, 'aged_out' while it is remembered, then 'gone'.
CREATE OR REPLACE FUNCTION age_of(completed_at timestamptz, kept_s double precision, remembered_s double precision)
RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT CASE
    WHEN completed_at IS NULL OR completed_at > router_now() - make_interval(secs => kept_s) THEN 'kept'
    WHEN completed_at > router_now() - make_interval(secs => kept_s + remembered_s) THEN 'aged_out'
    ELSE 'gone'
  END
$$;

-- Replaces a batch of runs past the cutoff with tombstones, oldest ids first, and returns their number. A batch is limited in
-- runs and in bytes, so that no call takes long.
CREATE OR REPLACE FUNCTION age_out(kept_s double precision, batch_rows integer, batch_bytes bigint)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  cutoff timestamptz := router_now() - make_interval(secs => kept_s);
  aged uuid[];
BEGIN
  IF NOT pg_try_advisory_xact_lock(${advisoryLocks.ageOut}) THEN
    RETURN 0;
  END IF;
  SELECT coalesce(array_agg(id), '{}') INTO aged FROM (
    SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS bytes_before FROM (
      SELECT id, coalesce((SELECT sum(octet_length(body)) FROM payload WHERE run_id = id), 0) AS bytes FROM (
        -- A run completes after its id was created, so the ids bound the search.
        (SELECT id FROM run WHERE id < v7_floor(cutoff) AND completed_at <= cutoff ORDER BY id LIMIT batch_rows)
        UNION
        -- Unless the gateway's clock ran far ahead.
        (SELECT id FROM run_default WHERE completed_at <= cutoff LIMIT batch_rows)
      ) AS oldest
    ) AS measured
  ) AS summed WHERE bytes_before < batch_bytes;
  UPDATE stored_object SET delete_at = greatest(router_now(), link_expires_at) WHERE owner_id = ANY (aged);
  DELETE FROM payload WHERE run_id = ANY (aged);
  WITH gone AS (DELETE FROM run WHERE id = ANY (aged) RETURNING *)
  INSERT INTO tombstone (run_id, workspace_id, model, completed_at, origin, admitted_position)
  SELECT id, workspace_id, model, completed_at,
    CASE WHEN call ? 'idempotencyKey' THEN call ->> 'origin' END,
    CASE WHEN call ? 'idempotencyKey' THEN admitted_position END
  FROM gone;
  DELETE FROM run_attempts WHERE run_id = ANY (aged);
  RETURN cardinality(aged);
END $$;

-- Uses the index: the first call marks the entries of deleted rows as dead, so the second call, made under an exclusive lock,
-- skips them without reading the table.
CREATE OR REPLACE FUNCTION day_is_empty(day date) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  parent text;
  occupied boolean;
BEGIN
  FOREACH parent IN ARRAY ARRAY['run', 'payload'] LOOP
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', parent || to_char(day, '_YYYYMMDD')) INTO occupied;
    IF occupied THEN
      RETURN false;
    END IF;
  END LOOP;
  RETURN true;
END $$;

-- Drops the oldest empty day and returns it; null if no day is empty or the tables are busy. A live run, or one whose result
-- can still be collected, keeps its day.
CREATE OR REPLACE FUNCTION drop_day() RETURNS date LANGUAGE plpgsql
SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '200ms' AS $$
DECLARE
  day date;
BEGIN
  IF NOT pg_try_advisory_xact_lock(${advisoryLocks.partitions}) THEN
    RETURN NULL;
  END IF;
  FOR day IN
    SELECT to_date(right(relname, 8), 'YYYYMMDD') FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'run'::regclass AND relname ~ '^run_[0-9]{8}$' ORDER BY 1
  LOOP
    -- Yesterday is kept, because a gateway's clock may run behind.
    EXIT WHEN day >= timezone('UTC', router_now())::date - 1;
    CONTINUE WHEN NOT day_is_empty(day);
    LOCK TABLE ONLY run, ONLY payload IN ACCESS EXCLUSIVE MODE;
    -- Checked again under the lock, when no rows can be added.
    IF NOT day_is_empty(day) THEN
      RETURN NULL;
    END IF;
    EXECUTE format('DROP TABLE %I, %I', to_char(day, '"run_"YYYYMMDD'), to_char(day, '"payload_"YYYYMMDD'));
    RETURN day;
  END LOOP;
  RETURN NULL;
EXCEPTION WHEN lock_not_available THEN
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drop_day FROM PUBLIC;
`;
