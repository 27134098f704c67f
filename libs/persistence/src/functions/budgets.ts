/**
 * Budgets: `admit` reserves in the windows of every budget that counts a run, `finish_all` settles them, and a refund
 * takes its amount back. The run remembers its windows, so it settles in those of its admission, whatever becomes of
 * the budget. All writers hold the lock of the workspace.
 */
export const budgets = /* sql */ `
-- The window at a time. Its days begin at midnight in the time zone, so the clock change makes them 23 or 25 hours long.
CREATE OR REPLACE FUNCTION budget_bounds(period text, time_zone text, at timestamptz, OUT starts_at timestamptz, OUT ends_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  first_moment timestamp;
BEGIN
  IF period = 'total' THEN
    starts_at := '-infinity';
    ends_at := 'infinity';
  ELSE
    first_moment := date_trunc(period, at AT TIME ZONE time_zone);
    starts_at := first_moment AT TIME ZONE time_zone;
    ends_at := (first_moment + ('1 ' || period)::interval) AT TIME ZONE time_zone;
  END IF;
END $$;

CREATE OR REPLACE FUNCTION budget_limit(limit_micros bigint, raises jsonb, at timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF raises = '[]' THEN
    RETURN limit_micros;
  END IF;
  RETURN limit_micros + coalesce((
    SELECT sum((raise ->> 'micros')::bigint) FROM jsonb_array_elements(raises) AS raise
    WHERE at >= (raise ->> 'from')::timestamptz AND at < (raise ->> 'until')::timestamptz
  ), 0);
END $$;

-- A new window gets its id here and its row when a run is admitted.
CREATE OR REPLACE FUNCTION budget_window_at(its budget, counted text, at timestamptz) RETURNS budget_window LANGUAGE plpgsql AS $$
DECLARE
  its_window budget_window;
  bounds record := budget_bounds(its.period, its.time_zone, at);
BEGIN
  SELECT * INTO its_window FROM budget_window WHERE budget_id = its.id AND starts_at = bounds.starts_at AND value = counted;
  IF NOT FOUND THEN
    its_window := ROW(nextval('budget_window_id_seq'), its.id, bounds.starts_at, counted, bounds.ends_at, 0, 0, 0);
  END IF;
  RETURN its_window;
END $$;

CREATE OR REPLACE FUNCTION reserve_budgets(windows budget_window[], reserved bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO budget_window OVERRIDING SYSTEM VALUE SELECT id, budget_id, starts_at, value, ends_at, cost, spent_micros, notified
  FROM ROWS FROM (unnest(windows), unnest(reserved))
    AS each (id, budget_id, starts_at, value, ends_at, reserved_micros, spent_micros, notified, cost)
  WHERE cost IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET reserved_micros = budget_window.reserved_micros + excluded.reserved_micros;
END $$;

-- Moves reserved amounts to what is spent. A share of the limit that is reached for the first time becomes a webhook.
CREATE OR REPLACE FUNCTION settle_budgets(windows bigint[], helds bigint[], billeds bigint[]) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off AS $$
BEGIN
  WITH sums AS (
    SELECT id, sum(held) AS held, sum(billed) AS billed FROM unnest(windows, helds, billeds) AS each (id, held, billed) GROUP BY id
  ), settled AS MATERIALIZED (
    SELECT its.*, held, its.spent_micros + billed AS spent, workspace_id, name, scope, period, hard, webhook_url,
      budget_limit(limit_micros, raises, router_now()) AS "limit"
    FROM sums JOIN budget_window AS its ON its.id = ANY (windows) AND its.id = sums.id JOIN budget ON budget.id = budget_id
  ), reached AS (
    SELECT settled.*, share FROM settled, unnest(ARRAY[50, 80, 100]) AS share WHERE share > notified AND spent * 100 >= "limit" * share
  ), written AS (
    UPDATE budget_window SET reserved_micros = budget_window.reserved_micros - held, spent_micros = spent,
      notified = coalesce((SELECT max(share) FROM reached WHERE reached.id = settled.id), budget_window.notified)
    FROM settled WHERE budget_window.id = ANY (windows) AND budget_window.id = settled.id
  )
  INSERT INTO webhook (run_id, workspace_id, model, origin, completed_at, url, receiver, form, due_at, event)
  SELECT
    -- Random, after the time, so that it is listed among the runs of its time.
    (left(v7_floor(router_now())::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
    workspace_id, 'budget.threshold', '', router_now(), webhook_url, substring(webhook_url FROM '^[a-z]+://[^/?#]+'), 'standard', router_now(),
    jsonb_build_object('budget', name, 'threshold', share, 'scope', scope, 'value', value, 'window', period, 'hard', hard,
      'limitMicros', "limit", 'spentMicros', spent, 'reservedMicros', reserved_micros - held,
      'startsAt', CASE WHEN isfinite(starts_at) THEN starts_at END, 'endsAt', CASE WHEN isfinite(ends_at) THEN ends_at END)
  FROM reached WHERE webhook_url IS NOT NULL ORDER BY id, share;
END $$;
`;
