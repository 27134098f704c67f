import { advisoryLocks } from '../locks.js';

/**
 * Deletes expired results. A day of runs is dropped as a whole when all of its results have expired; the audit
 * records remember the runs. Rows are deleted one batch at a time where that takes too long: see `age_out`.
 */
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

-- Deletes a batch of the runs past the cutoff whose ids are lower than ids_before, oldest ids first, and returns their number.
-- A batch is limited in runs and in bytes, so that no call takes long. Only a run with an Idempotency-Key leaves a tombstone,
-- because its key may be used after its result has expired. Without ids_before, all runs past the cutoff are deleted, and each
-- leaves a tombstone: the gateways of the previous release remember expired runs by these.
CREATE OR REPLACE FUNCTION age_out(kept_s double precision, batch_rows integer, batch_bytes bigint, ids_before uuid)
RETURNS integer LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  cutoff timestamptz := router_now() - make_interval(secs => kept_s);
  aged uuid[];
  first_id uuid;
  last_id uuid;
BEGIN
  IF NOT pg_try_advisory_xact_lock(${advisoryLocks.ageOut}) THEN
    RETURN 0;
  END IF;
  aged := ARRAY(
    (SELECT id FROM run WHERE id < coalesce(ids_before, v7_floor(cutoff)) AND completed_at <= cutoff ORDER BY id LIMIT batch_rows)
    UNION
    -- Made by a gateway whose clock ran far ahead or behind.
    (SELECT id FROM run_default WHERE completed_at <= cutoff LIMIT batch_rows)
    ORDER BY id LIMIT batch_rows
  );
  -- The bounds prune the other days' partitions.
  first_id := aged[1];
  last_id := aged[cardinality(aged)];
  aged := ARRAY(
    SELECT id FROM (
      SELECT id, coalesce(sum(bytes) OVER (ORDER BY id), 0) - coalesce(bytes, 0) AS bytes_before FROM unnest(aged) AS id LEFT JOIN (
        SELECT run_id, sum(octet_length(body)) AS bytes FROM payload
        WHERE run_id = ANY (aged) AND run_id BETWEEN first_id AND last_id GROUP BY run_id
      ) AS measured ON run_id = id
    ) AS summed WHERE bytes_before < batch_bytes ORDER BY id
  );
  last_id := aged[cardinality(aged)];
  UPDATE stored_object SET delete_at = greatest(router_now(), link_expires_at) WHERE owner_id = ANY (aged) AND workspace_id IS NULL;
  DELETE FROM payload WHERE run_id = ANY (aged) AND run_id BETWEEN first_id AND last_id;
  WITH gone AS (
    DELETE FROM run WHERE id = ANY (aged) AND id BETWEEN first_id AND last_id
    RETURNING id, workspace_id, model, completed_at, call, admitted_position
  )
  INSERT INTO tombstone (run_id, workspace_id, model, completed_at, origin, admitted_position)
  SELECT id, workspace_id, model, completed_at, call ->> 'origin', admitted_position
  FROM gone WHERE ids_before IS NULL OR call ? 'idempotencyKey';
  DELETE FROM run_attempts WHERE run_id = ANY (aged);
  RETURN cardinality(aged);
END $$;

-- The workers of the previous release delete every expired run by this function.
CREATE OR REPLACE FUNCTION age_out(kept_s double precision, batch_rows integer, batch_bytes bigint) RETURNS integer LANGUAGE sql
AS $$ SELECT age_out(kept_s, batch_rows, batch_bytes, NULL) $$;

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

-- Whether a run of the day is live or may still be collected, or an object of it was not yet marked for deletion. A day is
-- needed until the results have expired that took less than an hour, without a look at them; the others are indexed. Without a
-- cutoff, a day is needed as long as it has rows.
CREATE OR REPLACE FUNCTION day_is_needed(day date, cutoff timestamptz) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  end_at timestamptz := (day + 1)::timestamp AT TIME ZONE 'UTC';
  first_id uuid := v7_floor(day::timestamp AT TIME ZONE 'UTC');
  end_id uuid := v7_floor(end_at);
BEGIN
  IF cutoff IS NULL THEN
    RETURN NOT day_is_empty(day);
  END IF;
  RETURN end_at + interval '1 hour' > cutoff
    OR EXISTS (SELECT FROM outbox WHERE run_id >= first_id AND run_id < end_id)
    OR EXISTS (
      SELECT FROM audit_record WHERE run_id >= first_id AND run_id < end_id AND completed_at > cutoff
        AND completed_at - to_timestamp(('x' || translate(left(run_id::text, 13), '-', ''))::bit(48)::bigint / 1000.0) > interval '1 hour'
    ) OR EXISTS (
      SELECT FROM stored_object WHERE owner_id >= first_id AND owner_id < end_id AND workspace_id IS NULL AND delete_at = 'infinity'
    );
END $$;

-- Drops the oldest day that is not needed and returns it; null if there is none or the tables are busy.
CREATE OR REPLACE FUNCTION drop_day(kept_s double precision) RETURNS date LANGUAGE plpgsql
SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '200ms' AS $$
DECLARE
  cutoff timestamptz := router_now() - make_interval(secs => kept_s);
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
    CONTINUE WHEN day_is_needed(day, cutoff);
    LOCK TABLE ONLY run, ONLY payload IN ACCESS EXCLUSIVE MODE;
    -- Checked again under the lock, when no rows can be added.
    IF day_is_needed(day, cutoff) THEN
      RETURN NULL;
    END IF;
    EXECUTE format('DROP TABLE %I, %I', to_char(day, '"run_"YYYYMMDD'), to_char(day, '"payload_"YYYYMMDD'));
    RETURN day;
  END LOOP;
  RETURN NULL;
EXCEPTION WHEN lock_not_available THEN
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drop_day(double precision) FROM PUBLIC;

-- The workers of the previous release drop days without rows.
CREATE OR REPLACE FUNCTION drop_day() RETURNS date LANGUAGE sql AS $$ SELECT drop_day(NULL) $$;
REVOKE EXECUTE ON FUNCTION drop_day() FROM PUBLIC;
`;
