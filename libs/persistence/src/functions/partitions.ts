import { advisoryLocks } from '../locks.js';

/**
 * Runs and payloads are partitioned by the day of their v7 id, so that the space of a past day is freed by dropping
 * it. Creating or dropping a partition locks the whole table briefly. A session that does not get the lock at once
 * gives up and retries later, because all sessions that queue behind it would have to wait too.
 */
export const partitions = /* sql */ `
CREATE OR REPLACE FUNCTION v7_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Returns false if the day has to be tried again: the tables were busy, or the default partition holds ids of that day.
CREATE OR REPLACE FUNCTION ensure_day(day date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '200ms' AS $$
DECLARE
  parent text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['run', 'payload'] LOOP
    CONTINUE WHEN to_regclass(parent || to_char(day, '_YYYYMMDD')) IS NOT NULL;
    -- A run is written about three times within seconds; the free space keeps its row versions on one page.
    EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = %s)',
      parent || to_char(day, '_YYYYMMDD'), parent,
      v7_floor(day::timestamp AT TIME ZONE 'UTC'), v7_floor((day + 1)::timestamp AT TIME ZONE 'UTC'),
      CASE parent WHEN 'run' THEN 50 ELSE 100 END);
  END LOOP;
  RETURN true;
EXCEPTION WHEN lock_not_available OR check_violation THEN
  RETURN false;
END $$;

-- Returns how many days could not be created. Apps may run as a role that owns no tables; only this function and drop_day run
-- as the owner.
CREATE OR REPLACE FUNCTION ensure_partitions(days_ahead integer) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  today date := timezone('UTC', router_now())::date;
BEGIN
  IF NOT pg_try_advisory_xact_lock(${advisoryLocks.partitions}) THEN
    RETURN 0;
  END IF;
  RETURN (SELECT count(*) FILTER (WHERE NOT ensure_day(day::date))
    FROM generate_series(today - 1, today + days_ahead, interval '1 day') AS day);
END $$;

REVOKE EXECUTE ON FUNCTION ensure_partitions FROM PUBLIC;
`;
