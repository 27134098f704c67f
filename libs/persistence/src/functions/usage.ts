/**
 * `add_up_usage(spaces, closed_at)` adds the audit records of each workspace's next hour to `usage_sum`, by hour and by
 * day, and returns how many workspaces it advanced. Usage of a long time is then read from a few rows. Records with an
 * attribution are also added up by each of its dimensions, in `usage_dimension_sum`; what a dimension leaves out is the
 * difference to `usage_sum`. Over all workspaces, the runs that say something about their model are added to
 * `measured_runs`: those of its provider that succeeded, and those that failed through the provider's fault.
 *
 * `answers` of `measured_runs` counts for each workspace what the model wrote: `runs`; of those that took a second or
 * longer, `timed` (their number), `tokens` and `ms`, because a shorter time is mostly spent on the connection; and by the
 * names 1 to 60 the open runs whose answer had up to 1.25 ^ name tokens. A run with a limit is not open, even if its answer
 * ended before: its caller set the limit for an answer of that size, so it says nothing about answers without one. Runs that
 * did not succeed do not count, because their callers left or their answers broke off.
 *
 * The sums are exact only if no run can still end before `closed_at`. `finish_all` dates a run while it holds the lock
 * of its workspace, so the caller locks the workspaces once after `closed_at`, in an earlier transaction: every run
 * that ended before is committed by then.
 */
export const usage = /* sql */ `
-- The counts of both, by workspace and name. If there are more workspaces than ten, those with the most runs stay.
CREATE OR REPLACE FUNCTION answers_together(known jsonb, added jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN (
  SELECT jsonb_object_agg(space, counts) FROM (
    SELECT space, jsonb_object_agg(name, number) AS counts FROM (
      SELECT space, name, sum(number::numeric) AS number
      FROM (VALUES (known), (added)) AS given (answers), jsonb_each(answers) AS of_space (space, counts), jsonb_each_text(counts) AS each (name, number)
      GROUP BY 1, 2
    ) AS summed GROUP BY 1 ORDER BY max(number) FILTER (WHERE name = 'runs') DESC, 1 LIMIT 10
  ) AS kept
);

CREATE OR REPLACE FUNCTION add_up_usage(spaces uuid[], closed_at timestamptz) RETURNS integer LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
  space uuid;
  done_until timestamptz;
  begins timestamptz;
  ends timestamptz;
  advanced uuid[] := '{}';
  hours timestamptz[] := '{}';
BEGIN
  FOREACH space IN ARRAY spaces LOOP
    INSERT INTO usage_progress VALUES (space, '-infinity') ON CONFLICT DO NOTHING;
    SELECT until INTO done_until FROM usage_progress WHERE workspace_id = space FOR UPDATE;
    -- Hours without records are skipped.
    SELECT date_trunc('hour', min(completed_at), 'UTC') INTO begins FROM audit_record
    WHERE workspace_id = space AND completed_at >= done_until AND completed_at < closed_at;
    CONTINUE WHEN begins IS NULL;
    ends := begins + interval '1 hour';
    INSERT INTO usage_sum (workspace_id, unit, at, model, credential, runs, succeeded, billed_micros)
    SELECT space, unit, date_trunc(unit, begins, 'UTC'), model, credential, runs, succeeded, billed_micros
    FROM (
      SELECT model, CASE WHEN credential LIKE 'key:%' THEN credential ELSE 'token' END AS credential, count(*) AS runs,
        count(*) FILTER (WHERE outcome = 'succeeded') AS succeeded, sum(billed_micros) AS billed_micros
      FROM audit_record WHERE workspace_id = space AND completed_at >= begins AND completed_at < ends
      GROUP BY 1, 2
    ) AS added, unnest(ARRAY['hour', 'day']) AS unit
    ON CONFLICT (workspace_id, unit, at, model, credential) DO UPDATE SET runs = usage_sum.runs + excluded.runs,
      succeeded = usage_sum.succeeded + excluded.succeeded, billed_micros = usage_sum.billed_micros + excluded.billed_micros;
    INSERT INTO usage_dimension_sum (workspace_id, dimension, unit, at, value, model, credential, runs, succeeded, billed_micros)
    SELECT space, dimension, unit, date_trunc(unit, begins, 'UTC'), value, model, credential, runs, succeeded, billed_micros
    FROM (
      SELECT dimension, value, model, CASE WHEN credential LIKE 'key:%' THEN credential ELSE 'token' END AS credential,
        count(*) AS runs, count(*) FILTER (WHERE outcome = 'succeeded') AS succeeded, sum(billed_micros) AS billed_micros
      FROM audit_record, jsonb_each_text(attribution) AS given (dimension, value)
      WHERE workspace_id = space AND completed_at >= begins AND completed_at < ends AND attribution IS NOT NULL
      GROUP BY 1, 2, 3, 4
    ) AS added, unnest(ARRAY['hour', 'day']) AS unit
    ON CONFLICT (workspace_id, dimension, unit, at, value, model, credential) DO UPDATE SET
      runs = usage_dimension_sum.runs + excluded.runs, succeeded = usage_dimension_sum.succeeded + excluded.succeeded,
      billed_micros = usage_dimension_sum.billed_micros + excluded.billed_micros;
    UPDATE usage_progress SET until = ends WHERE workspace_id = space;
    advanced := advanced || space;
    hours := hours || begins;
  END LOOP;
  -- One statement at the end, in the order of the key: sessions that add to the same rows wait for each other, without a deadlock.
  WITH measured AS MATERIALIZED (
    SELECT timezone('UTC', completed_at)::date AS day, model, workspace_id, outcome, dispatched_at, completed_at, written
    FROM unnest(advanced, hours) AS hour (space_id, hour_begins), LATERAL (
      SELECT * FROM audit_record
      WHERE workspace_id = space_id AND completed_at >= hour_begins AND completed_at < hour_begins + interval '1 hour'
      -- Keeps the plan of one range of the index for each hour.
      OFFSET 0
    ) AS record
    WHERE dispatched_at IS NOT NULL AND NOT simulated AND completed_at > closed_at - interval '31 days'
      AND (outcome = 'succeeded' OR bucket IN ('provider_error', 'provider_timeout', 'service_unavailable'))
  ), counted AS (
    SELECT day, model, workspace_id, name, sum(number) AS number
    FROM measured, jsonb_to_record(written) AS wrote (tokens bigint, ms bigint, "isOpen" boolean), LATERAL (
      SELECT 'runs', 1::numeric
      UNION ALL SELECT * FROM (VALUES ('timed', 1), ('tokens', tokens), ('ms', ms)) AS timed WHERE ms >= 1000
      UNION ALL SELECT least(60, greatest(1, ceil(ln(tokens::float) / ln(1.25::float))))::text, 1 WHERE "isOpen"
    ) AS each (name, number)
    WHERE outcome = 'succeeded' AND written IS NOT NULL GROUP BY 1, 2, 3, 4
  ), answered AS (
    SELECT day, model, jsonb_object_agg(workspace_id, counts) AS answers FROM (
      SELECT day, model, workspace_id, jsonb_object_agg(name, number) AS counts FROM counted GROUP BY 1, 2, 3
    ) AS by_space GROUP BY 1, 2
  )
  INSERT INTO measured_runs (day, model, runs, succeeded, times, workspaces, answers)
  SELECT day, model, runs, cardinality(steps), ARRAY(
      SELECT count(taken) FROM generate_series(1, 100) AS step LEFT JOIN unnest(steps) AS taken ON taken = step GROUP BY step ORDER BY step
    ), workspaces, answers
  FROM (
    SELECT day, model, count(*) AS runs, (array_agg(DISTINCT workspace_id))[:3] AS workspaces,
      coalesce(array_agg(least(100, greatest(1, ceil(ln(greatest(0.1, extract(epoch FROM completed_at - dispatched_at)::float) / 0.1) / ln(1.1::float))))::integer)
        FILTER (WHERE outcome = 'succeeded'), '{}') AS steps
    FROM measured GROUP BY 1, 2
  ) AS summed LEFT JOIN answered USING (day, model) ORDER BY day, model
  ON CONFLICT (day, model) DO UPDATE SET runs = measured_runs.runs + excluded.runs, succeeded = measured_runs.succeeded + excluded.succeeded,
    times = ARRAY(
      SELECT known + new FROM unnest(measured_runs.times, excluded.times) WITH ORDINALITY AS step (known, new, place) ORDER BY place
    ), workspaces = ARRAY(SELECT DISTINCT unnest(measured_runs.workspaces || excluded.workspaces) LIMIT 3),
    answers = answers_together(measured_runs.answers, excluded.answers);
  RETURN cardinality(advanced);
END $$;
`;
