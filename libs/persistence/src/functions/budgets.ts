/**
 * Budgets: `admit` reserves in the windows of every budget that counts a run, `finish_all` settles them, and a refund
 * takes its amount back. The run remembers its windows, so it settles in those of its admission, whatever becomes of
 * the budget. All writers hold the lock of the workspace.
 */
export const budgets = /* sql */ `
-- Postgres reads these names as abbreviations with a fixed offset. They are other names of zones with clock changes.
CREATE OR REPLACE FUNCTION budget_zone(time_zone text) RETURNS text LANGUAGE sql IMMUTABLE RETURN CASE upper(time_zone)
  WHEN 'CET' THEN 'Europe/Brussels' WHEN 'MET' THEN 'Europe/Brussels' WHEN 'EET' THEN 'Europe/Athens' WHEN 'WET' THEN 'Europe/Lisbon'
  ELSE time_zone END;

-- The first moment with a local time. Where clocks go back over midnight there are two, and Postgres takes the second.
CREATE OR REPLACE FUNCTION first_moment(local timestamp, zone text) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
  last timestamptz := local AT TIME ZONE zone;
  day_before timestamptz := last - interval '24 hours';
  -- The same local time by the offset of the day before.
  first timestamptz := local AT TIME ZONE 'UTC' - (day_before AT TIME ZONE zone - day_before AT TIME ZONE 'UTC');
BEGIN
  RETURN CASE WHEN first < last AND first AT TIME ZONE zone = local THEN first ELSE last END;
END $$;

-- The window at a time. Its days begin at midnight in the time zone, so the clock change makes them 23 or 25 hours long.
CREATE OR REPLACE FUNCTION budget_bounds(period text, time_zone text, at timestamptz, OUT starts_at timestamptz, OUT ends_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
DECLARE
  zone text := budget_zone(time_zone);
  first_day timestamp;
BEGIN
  IF period = 'total' THEN
    starts_at := '-infinity';
    ends_at := 'infinity';
  ELSE
    first_day := date_trunc(period, at AT TIME ZONE zone);
    starts_at := first_moment(first_day, zone);
    ends_at := first_moment(first_day + ('1 ' || period)::interval, zone);
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

-- The value under which a budget of keys counts a credential. A key that was rotated counts together with its successors:
-- otherwise a rotation would start its budgets anew.
CREATE OR REPLACE FUNCTION counted_key(credential text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN credential LIKE 'key:%' THEN
    coalesce((SELECT 'key:' || first_id FROM api_key WHERE id = substr(credential, 5)::uuid), credential)
  ELSE 'token' END
$$;

CREATE OR REPLACE FUNCTION reserve_budgets(windows budget_window[], reserved bigint[]) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  INSERT INTO budget_window OVERRIDING SYSTEM VALUE SELECT id, budget_id, starts_at, value, ends_at, cost, spent_micros, notified
  FROM ROWS FROM (unnest(windows), unnest(reserved))
    AS each (id, budget_id, starts_at, value, ends_at, reserved_micros, spent_micros, notified, cost)
  WHERE cost IS NOT NULL
  ON CONFLICT (id) DO UPDATE SET reserved_micros = budget_window.reserved_micros + excluded.reserved_micros;
END $$;

-- A share of the limit that is spent for the first time in a window becomes a webhook.
CREATE OR REPLACE FUNCTION notify_of_budgets(windows bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH reached AS (
    SELECT its.*, share, workspace_id, name, scope, period, hard, webhook_url, its_limit
    FROM budget_window AS its JOIN budget ON budget.id = budget_id, unnest(ARRAY[50, 80, 100]) AS share,
      budget_limit(limit_micros, raises, router_now()) AS its_limit
    WHERE its.id = ANY (windows) AND share > notified AND spent_micros * 100 >= its_limit * share
  ), noted AS (
    UPDATE budget_window SET notified = most FROM (SELECT id, max(share) AS most FROM reached GROUP BY id) AS noted
    WHERE budget_window.id = noted.id
  )
  INSERT INTO webhook (run_id, workspace_id, model, origin, completed_at, url, receiver, form, due_at, event)
  SELECT
    -- Random, after the time, so that it is listed among the runs of its time.
    (left(v7_floor(router_now())::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid,
    workspace_id, 'budget.threshold', '', router_now(), webhook_url, substring(webhook_url FROM '^[a-z]+://[^/?#]+'), 'standard', router_now(),
    jsonb_build_object('budget', name, 'threshold', share, 'scope', scope, 'value', value, 'window', period, 'hard', hard,
      'limitMicros', its_limit, 'spentMicros', spent_micros, 'reservedMicros', reserved_micros,
      'startsAt', CASE WHEN isfinite(starts_at) THEN starts_at END, 'endsAt', CASE WHEN isfinite(ends_at) THEN ends_at END)
  FROM reached WHERE webhook_url IS NOT NULL;
END $$;

-- The windows of ended runs, with what each run had reserved and was billed.
CREATE OR REPLACE FUNCTION settle_budgets(windows bigint[], reserved bigint[], billed bigint[]) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  due bigint[];
BEGIN
  WITH settled AS (
    UPDATE budget_window AS its SET reserved_micros = reserved_micros - held, spent_micros = spent_micros + spent
    FROM (SELECT id, sum(a)::bigint AS held, sum(b)::bigint AS spent FROM unnest(windows, reserved, billed) AS each (id, a, b) GROUP BY id) AS sums
    WHERE its.id = sums.id RETURNING its.id, budget_id, spent_micros, notified
  )
  -- A raise may put these off.
  SELECT array_agg(settled.id) INTO due FROM settled JOIN budget ON budget.id = budget_id
  WHERE notified < 100 AND spent_micros * 100 >= limit_micros * CASE WHEN notified < 50 THEN 50 WHEN notified < 80 THEN 80 ELSE 100 END;
  IF due IS NOT NULL THEN
    PERFORM notify_of_budgets(due);
  END IF;
END $$;
`;
