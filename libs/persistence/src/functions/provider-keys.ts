/** Seconds whose submissions count. One more than a minute, because the oldest and the newest are not whole. */
const windowSeconds = 61;

/**
 * Provider key pools. A pool is JSON: `[{name, weight, concurrency, perMinute}]`, the keys that a worker has for a
 * provider. Statements lock a provider's keys in the order of their names and before any run, so they never wait for
 * each other in a circle.
 *
 * `free_provider_key(keyed, pool)` chooses the key for the next submission by weight, among those that have not left
 * the pool, do not cool and are below their limits. Null if there is none. If every key has left, none has: the last
 * key of a provider never leaves.
 *
 * `take_run_with_key(run, lease, keyed, pool)` is `take_run` with the key that shall submit the run, which it counts.
 *
 * `cool_provider_key(keyed, key, calls, lasting, pool)` records that the provider asked not to be called with a key.
 * Returns the milliseconds until a key of the pool may submit: 0 if one may now.
 *
 * `drop_provider_key(keyed, key, reason, pool)` makes a rejected key leave the pool. Returns whether another key is
 * left; if not, the key stays.
 */
export const providerKeys = /* sql */ `
-- The submissions of the last seconds, the newest first.
CREATE OR REPLACE FUNCTION submits_until(key provider_key, this_second bigint) RETURNS integer[] LANGUAGE sql IMMUTABLE
RETURN array_fill(0, ARRAY[least(greatest(this_second - key.submitted_at, 0), ${windowSeconds})::integer])
  || key.submits[1:${windowSeconds} - least(greatest(this_second - key.submitted_at, 0), ${windowSeconds})::integer];

CREATE OR REPLACE FUNCTION live_runs(ids uuid[]) RETURNS uuid[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(held_id), '{}') FROM unnest(ids) AS held_id WHERE EXISTS (
    SELECT FROM run WHERE id = held_id
      AND (stage = 'running' OR stage IN ('ready', 'submitting') AND lease_until IS NOT NULL)
  )
$$;

CREATE OR REPLACE FUNCTION free_provider_key(keyed text, pool jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  this_moment timestamptz;
  this_second bigint;
BEGIN
  PERFORM FROM provider_key WHERE provider = keyed ORDER BY name FOR NO KEY UPDATE;
  this_moment := router_now();
  this_second := floor(extract(epoch FROM this_moment));
  RETURN (
    SELECT name FROM (
      SELECT name, runs, left_at, submits_after, share, most_runs, most_submits, submits_until(key, this_second) AS submits,
        bool_and(left_at IS NOT NULL) FILTER (WHERE share > 0) OVER () AS all_left
      FROM provider_key AS key JOIN (
        SELECT name, weight AS share, concurrency AS most_runs, "perMinute" AS most_submits
        FROM jsonb_to_recordset(pool) AS each (name text, weight float, concurrency integer, "perMinute" integer)
      ) AS terms USING (name)
      WHERE key.provider = keyed
    ) AS key
    WHERE share > 0 AND (left_at IS NULL OR all_left)
      AND (submits_after IS NULL OR submits_after <= this_moment)
      AND (most_submits IS NULL OR most_submits > (SELECT coalesce(sum(each), 0) FROM unnest(submits) AS each))
      AND (most_runs IS NULL OR most_runs > cardinality(live_runs(runs)))
    -- The smallest of exponential variates, each with its weight as rate, is a choice by weight.
    ORDER BY -ln(1 - random()) / share LIMIT 1
  );
END $$;

CREATE OR REPLACE FUNCTION take_run_with_key(waiting_id uuid, lease interval, keyed text, pool jsonb)
RETURNS TABLE (epoch integer, workspace_id uuid, model text, facts jsonb, crashes integer, left_ms integer, waited_ms float,
  body bytea, stored_as text, key_name text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  chosen text := free_provider_key(keyed, pool);
  this_second bigint := floor(extract(epoch FROM router_now()));
BEGIN
  IF chosen IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY SELECT taken.*, chosen FROM take_run(waiting_id, lease) AS taken;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  UPDATE run SET provider_key = chosen WHERE id = waiting_id;
  UPDATE provider_key AS key SET submitted_at = greatest(submitted_at, this_second),
    submits = (SELECT ARRAY[coalesce(counts[1], 0) + 1] || counts[2:] FROM (SELECT submits_until(key, this_second) AS counts) AS shifted),
    runs = CASE WHEN (
      SELECT each ->> 'concurrency' FROM jsonb_array_elements(pool) AS each WHERE each ->> 'name' = chosen
    ) IS NULL THEN '{}' ELSE array_append(array_remove(live_runs(runs), waiting_id), waiting_id) END
  WHERE provider = keyed AND name = chosen;
END $$;

CREATE OR REPLACE FUNCTION cool_provider_key(keyed text, cooled text, calls text, lasting interval, pool jsonb)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  this_moment timestamptz;
BEGIN
  PERFORM FROM provider_key WHERE provider = keyed ORDER BY name FOR NO KEY UPDATE;
  this_moment := router_now();
  UPDATE provider_key SET
    submits_after = CASE calls WHEN 'submit' THEN greatest(submits_after, this_moment + lasting) ELSE submits_after END,
    polls_after = CASE calls WHEN 'poll' THEN greatest(polls_after, this_moment + lasting) ELSE polls_after END
  WHERE provider = keyed AND name = cooled;
  RETURN (
    SELECT coalesce(min(greatest(0, milliseconds_left(coalesce(submits_after, this_moment)))), 0)
    FROM provider_key AS key JOIN jsonb_to_recordset(pool) AS each (name text, weight float) USING (name)
    WHERE key.provider = keyed AND each.weight > 0
      AND (left_at IS NULL OR NOT EXISTS (
        SELECT FROM provider_key AS other JOIN jsonb_to_recordset(pool) AS kept (name text, weight float) USING (name)
        WHERE other.provider = keyed AND kept.weight > 0 AND other.left_at IS NULL
      ))
  );
END $$;

CREATE OR REPLACE FUNCTION drop_provider_key(keyed text, dropped text, reason text, pool jsonb)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM provider_key WHERE provider = keyed ORDER BY name FOR NO KEY UPDATE;
  IF NOT EXISTS (
    SELECT FROM provider_key AS other JOIN jsonb_to_recordset(pool) AS kept (name text, weight float) USING (name)
    WHERE provider = keyed AND name <> dropped AND kept.weight > 0 AND left_at IS NULL
  ) THEN
    RETURN false;
  END IF;
  UPDATE provider_key SET left_at = router_now(), left_for = reason, checked_at = NULL
  WHERE provider = keyed AND name = dropped AND left_at IS NULL;
  RETURN true;
END $$;
`;
