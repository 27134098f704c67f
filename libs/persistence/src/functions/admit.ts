/**
 * `admit(workspaces, runs, bodies, waits)` admits runs, each into the workspace at the same position. It locks the
 * rows of these workspaces before it takes any other lock. `bodies` are the inputs, concatenated, because an array
 * of them would be sent as text. The results are in the order of the runs: `admitted` (with stage, position and what
 * is left of the minute's window), `existing` (the key is in use) or `refused` (with the limit and its numbers). Without `waits`, the result is null
 * for a workspace that another session has locked. A refused run leaves nothing behind, not even its key.
 *
 * A run reserves its bound, the most that it can cost. In a workspace whose `reservation` is `likely`, it reserves
 * `likelyMicros` instead, if it has that figure, and may be billed up to its bound. Two sums keep the balance above minus
 * the overdraft limit: the reserves must fit the balance, and the bounds of all live runs the balance plus that limit.
 *
 * A run with a fingerprint and no key is `existing` if the fingerprint is that of a result that was paid for and that
 * nobody got: the connection of its caller is gone, and the run is live or has ended within the last minute, or ten
 * seconds if it failed. Each such result goes to one caller. A gateway that was killed cannot say that its connections are gone, but its listening
 * session has ended.
 */
export const admit = /* sql */ `
-- Setting the clock back by less than a minute does not open a second window. A window that starts later than that was dated
-- by a clock that ran ahead and has been corrected, so it ends at once.
CREATE OR REPLACE FUNCTION is_current_window(started_at timestamptz, this_window timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN started_at BETWEEN this_window AND this_window + interval '1 minute';

-- A run with a key of its workspace costs nothing but the workspace's fee, a part of the price.
CREATE OR REPLACE FUNCTION price_factor(facts jsonb, markup numeric, own_key_fee numeric) RETURNS numeric LANGUAGE sql IMMUTABLE
RETURN CASE WHEN facts ? 'ownKey' THEN own_key_fee ELSE markup END;

-- Returns the run that holds the key of the entry, or NULL if the entry holds it now.
CREATE OR REPLACE FUNCTION claim_key(space_id uuid, entry admission) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  holder idempotency_key%ROWTYPE;
BEGIN
  LOOP
    INSERT INTO idempotency_key (workspace_id, key, fingerprint, run_id, expires_at)
    VALUES (space_id, entry.key, decode(entry.fingerprint, 'hex'), entry."runId", router_now() + interval '24 hours')
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
      RETURN NULL;
    END IF;
    SELECT * INTO holder FROM idempotency_key WHERE workspace_id = space_id AND key = entry.key;
    CONTINUE WHEN NOT FOUND;
    IF holder.expires_at > router_now() THEN
      RETURN jsonb_build_object('kind', 'existing', 'runId', holder.run_id,
        'delivered', holder.deliveries > 0, 'matches', holder.fingerprint = decode(entry.fingerprint, 'hex'));
    END IF;
    DELETE FROM idempotency_key WHERE workspace_id = space_id AND key = holder.key AND run_id = holder.run_id;
  END LOOP;
END $$;

-- Returns the run of an equal call whose connection is gone, which the entry joins. NULL if there is none.
CREATE OR REPLACE FUNCTION join_left_behind(space_id uuid, entry admission, this_moment timestamptz) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  left_behind uuid;
BEGIN
  UPDATE unkeyed_call SET held_by = entry."heldBy" WHERE run_id = (
    SELECT run_id FROM unkeyed_call AS earlier JOIN run ON run.id = run_id
    WHERE earlier.workspace_id = space_id AND earlier.fingerprint = decode(entry.fingerprint, 'hex')
      AND (held_by IS NULL OR NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = held_by))
      AND cancel_requested_at IS NULL
      -- A client that counts on after a failure has been told that it may.
      AND (earlier.attempt IS NULL OR coalesce(entry."attempt", 0) <= earlier.attempt)
      AND (completed_at IS NULL OR completed_at > this_moment
        - CASE outcome WHEN 'failed' THEN interval '10 seconds' ELSE interval '1 minute' END)
    ORDER BY run_id LIMIT 1
  ) RETURNING run_id INTO left_behind;
  RETURN CASE WHEN FOUND THEN
    jsonb_build_object('kind', 'existing', 'runId', left_behind, 'delivered', false, 'matches', true) END;
END $$;

CREATE OR REPLACE FUNCTION admit(space_ids uuid[], runs jsonb, bodies bytea, waits boolean) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  results jsonb[] := array_fill(NULL::jsonb, ARRAY[cardinality(space_ids)]);
  locked workspace[];
  -- Updated as entries are admitted.
  spaces workspace[] := '{}';
  space workspace%ROWTYPE;
  this_moment timestamptz;
  this_window timestamptz;
  window_ends_in integer;
  nth integer;
  entry admission;
  multiplier numeric;
  -- The most that a run can cost, and what it reserves.
  bound bigint;
  cost bigint;
  refusal text;
  fits boolean;
  ahead integer;
  parked integer;
  first_parked bigint;
  -- The budgets of the workspace, in order, with the bounds of their windows and their limits.
  budgets budget[];
  starts timestamptz[];
  ends timestamptz[];
  limits bigint[];
  its budget;
  counted_as text;
  -- The windows that count an entry, the budget of each, what it has left, and what the entries reserve in it.
  keys text[];
  windows budget_window[];
  budget_of integer[];
  rooms bigint[];
  reserved bigint[];
  its_window budget_window;
  which integer;
  refusing jsonb;
  -- Entries that look the same to budgets are counted in the same windows: their places and ids, as texts of arrays.
  look text;
  looks text[];
  places_of text[];
  ids_of text[];
  its_places integer[];
  its_ids bigint[];
  windows_of text[] := '{}';
  -- Costs of the admitted entries, how much more each may be billed, and their places in the line.
  costs bigint[] := '{}';
  excesses bigint[] := '{}';
  places bigint[] := '{}';
BEGIN
  locked := ARRAY(SELECT each FROM locked_workspaces(space_ids, waits) AS each);
  -- The window and the rows share one instant, so that a run counted in one minute is not dated in the next.
  this_moment := router_now();
  this_window := date_trunc('minute', this_moment);
  FOREACH space IN ARRAY locked LOOP
    IF NOT is_current_window(space.window_started_at, this_window) THEN
      space.window_started_at := this_window;
      space.window_count := 0;
    END IF;
    window_ends_in := milliseconds_between(this_moment, space.window_started_at + interval '1 minute');
    ahead := NULL;
    parked := 0;
    first_parked := NULL;
    IF space.budgets > 0 THEN
      SELECT array_agg(budget ORDER BY name), array_agg(starts_at ORDER BY name), array_agg(ends_at ORDER BY name),
        array_agg(budget_limit(limit_micros, raises, this_moment) ORDER BY name) INTO budgets, starts, ends, limits
      FROM budget, budget_bounds(period, time_zone, this_moment) WHERE workspace_id = space.id;
      keys := '{}';
      windows := '{}';
      budget_of := '{}';
      rooms := '{}';
      reserved := '{}';
      looks := '{}';
      places_of := '{}';
      ids_of := '{}';
    END IF;
    <<each_run>>
    FOREACH nth IN ARRAY array_positions(space_ids, space.id) LOOP
      entry := jsonb_populate_record(NULL::admission, runs -> (nth - 1));
      IF entry.key IS NOT NULL THEN
        results[nth] := claim_key(space.id, entry);
        CONTINUE WHEN results[nth] IS NOT NULL;
      END IF;
      IF entry."heldBy" IS NOT NULL THEN
        results[nth] := join_left_behind(space.id, entry, this_moment);
        CONTINUE WHEN results[nth] IS NOT NULL;
      END IF;

      multiplier := price_factor(entry.facts, space.markup, space.own_key_fee);
      bound := ceil(entry."reservedMicros" * multiplier);
      cost := CASE space.reservation WHEN 'likely' THEN least(bound, ceil(entry."likelyMicros" * multiplier)) ELSE bound END;
      fits := space.inflight < space.inflight_limit
        AND space.committed_micros + cost <= space.committed_limit_micros;
      refusing := NULL;
      IF space.budgets > 0 THEN
        look := concat_ws(' ', entry.model, entry.credential, entry.call -> 'attribution');
        its_places := places_of[array_position(looks, look)];
        IF its_places IS NULL THEN
          its_places := '{}';
          its_ids := '{}';
          FOR of_budget IN 1 .. coalesce(cardinality(budgets), 0) LOOP
            its := budgets[of_budget];
            counted_as := CASE its.scope
              WHEN 'workspace' THEN ''
              WHEN 'model' THEN CASE WHEN entry.model ~ its.pattern THEN its.value END
              WHEN 'key' THEN counted_key(entry.credential)
              WHEN 'user' THEN coalesce(entry.call #>> '{attribution,user}', CASE WHEN its.counts_none THEN '' END)
              ELSE entry.call -> 'attribution' ->> its.scope END;
            CONTINUE WHEN counted_as IS NULL OR counted_as <> its.value;
            which := array_position(keys, of_budget || ' ' || counted_as);
            IF which IS NULL THEN
              SELECT * INTO its_window FROM budget_window
              WHERE budget_id = its.id AND starts_at = starts[of_budget] AND value = counted_as;
              IF NOT FOUND THEN
                -- Its row is written when a run is admitted.
                its_window := ROW(nextval('budget_window_id_seq'), its.id, starts[of_budget], counted_as, ends[of_budget], 0, 0, 0);
              END IF;
              keys := keys || (of_budget || ' ' || counted_as);
              which := cardinality(keys);
              windows[which] := its_window;
              budget_of[which] := of_budget;
              -- A soft budget always has room.
              rooms[which] := CASE WHEN its.hard THEN limits[of_budget] - its_window.reserved_micros - its_window.spent_micros END;
              reserved[which] := NULL;
            END IF;
            its_places := its_places || which;
            its_ids := its_ids || (windows[which]).id;
          END LOOP;
          looks := looks || look;
          places_of := places_of || its_places::text;
          ids_of := ids_of || its_ids::text;
        END IF;
        FOREACH which IN ARRAY its_places LOOP
          IF cost > rooms[which] THEN
            its := budgets[budget_of[which]];
            its_window := windows[which];
            refusing := jsonb_build_object('name', its.name, 'window', its.period, 'limitMicros', limits[budget_of[which]],
              'spentMicros', its_window.spent_micros, 'reservedMicros', its_window.reserved_micros + coalesce(reserved[which], 0),
              'resetsAt', CASE WHEN isfinite(its_window.ends_at) THEN its_window.ends_at END);
            EXIT;
          END IF;
        END LOOP;
      END IF;
      refusal := CASE
        WHEN cost > space.committed_limit_micros THEN 'ceiling'
        WHEN bound > 0 AND (space.balance_micros - space.held_micros < cost
          OR space.balance_micros + space.overdraft_limit_micros - space.held_micros - space.excess_micros < bound) THEN 'credits'
        WHEN refusing IS NOT NULL THEN 'budget'
        WHEN space.window_count >= space.window_limit THEN 'window'
        WHEN entry.mode = 'sync' AND space.inflight >= space.inflight_limit THEN 'inflight'
        WHEN entry.mode = 'sync' AND NOT fits THEN 'spend'
        WHEN entry.mode = 'queued' AND (space.backlog > 0 OR NOT fits)
          AND space.backlog >= space.backlog_limit THEN 'backlog'
      END;
      IF refusal IS NOT NULL THEN
        DELETE FROM idempotency_key
        WHERE workspace_id = space.id AND key = entry.key AND run_id = entry."runId";
        results[nth] := jsonb_build_object('kind', 'refused', 'limit', refusal, 'costMicros', cost, 'boundMicros', bound,
          'balanceMicros', space.balance_micros, 'heldMicros', space.held_micros, 'excessMicros', space.excess_micros,
          'overdraftLimitMicros', space.overdraft_limit_micros,
          'inflight', space.inflight, 'inflightLimit', space.inflight_limit,
          'committedMicros', space.committed_micros, 'committedLimitMicros', space.committed_limit_micros,
          'backlogLimit', space.backlog_limit, 'windowLimit', space.window_limit, 'windowLeft', greatest(0, space.window_limit - space.window_count), 'windowEndsInMs', window_ends_in)
          || CASE WHEN refusing IS NULL THEN '{}' ELSE jsonb_build_object('budget', refusing) END;
        CONTINUE;
      END IF;

      fits := fits AND (entry.mode = 'sync' OR space.backlog = 0);
      IF ahead IS NULL THEN
        space := count_undispatched(space, this_moment);
        ahead := space.backlog + space.undispatched;
      END IF;
      IF entry."storedAs" IS NOT NULL THEN
        PERFORM need_objects(ARRAY[entry."storedAs"]);
      END IF;
      costs[nth] := cost;
      excesses[nth] := bound - cost;
      IF space.budgets > 0 THEN
        FOREACH which IN ARRAY its_places LOOP
          rooms[which] := rooms[which] - cost;
          reserved[which] := coalesce(reserved[which], 0) + cost;
        END LOOP;
        windows_of[nth] := nullif(ids_of[array_position(looks, look)], '{}');
      END IF;
      places[nth] := nextval('admission_order');
      space.held_micros := space.held_micros + cost;
      space.excess_micros := space.excess_micros + bound - cost;
      space.window_count := space.window_count + 1;
      IF fits THEN
        space.inflight := space.inflight + 1;
        space.undispatched := space.undispatched + 1;
        space.committed_micros := space.committed_micros + cost;
      ELSE
        space.backlog := space.backlog + 1;
        first_parked := coalesce(first_parked, places[nth]);
        parked := parked + 1;
      END IF;
      results[nth] := jsonb_build_object('kind', 'admitted', 'runId', entry."runId", 'ready', fits, 'position', ahead,
        'windowLimit', space.window_limit, 'windowLeft', space.window_limit - space.window_count, 'windowEndsInMs', window_ends_in);
      ahead := ahead + 1;
    END LOOP;
    IF parked > 0 THEN
      PERFORM enter_backlog(space.id, first_parked, parked);
    END IF;
    IF space.budgets > 0 THEN
      PERFORM reserve_budgets(windows, reserved);
    END IF;
    spaces := spaces || space;
  END LOOP;

  -- One statement writes all rows, because starting a statement takes longer than writing a row.
  WITH admitted AS MATERIALIZED (
    SELECT each.*, id AS space_id, price_factor(facts, markup, own_key_fee) AS factor, (results[ordinality] -> 'ready')::boolean AS ready,
      windows_of[ordinality] AS budget_windows
    FROM jsonb_populate_recordset(NULL::admission, runs) WITH ORDINALITY AS each
    JOIN unnest(spaces) ON id = space_ids[ordinality]
    WHERE costs[ordinality] IS NOT NULL
  ), inserted AS (
    INSERT INTO run (id, workspace_id, model, provider, mode, stage, facts, reserved_micros, bound_micros, computed_micros, markup,
      credential, call, admitted_position, admitted_at, granted_at, budget_windows)
    SELECT "runId", space_id, model, provider, mode, CASE WHEN ready THEN 'ready' ELSE 'parked' END, facts, costs[ordinality],
      costs[ordinality] + nullif(excesses[ordinality], 0), ceil("computedMicros" * factor), factor, credential, call, (results[ordinality] -> 'position')::integer,
      this_moment, CASE WHEN ready THEN this_moment END, budget_windows::bigint[]
    FROM admitted
  ), unkeyed AS (
    INSERT INTO unkeyed_call (run_id, workspace_id, fingerprint, held_by)
    SELECT "runId", space_id, decode(fingerprint, 'hex'), "heldBy" FROM admitted WHERE "heldBy" IS NOT NULL
  ), inputs AS (
    INSERT INTO payload (run_id, kind, media_type, body, stored_as)
    SELECT "runId", 'input', 'application/json', substr(bodies, "bodyFrom", "bodyBytes"), "storedAs" FROM admitted
  ), counted AS (
    UPDATE workspace SET inflight = counted.inflight, committed_micros = counted.committed_micros,
      held_micros = counted.held_micros, excess_micros = counted.excess_micros, backlog = counted.backlog,
      window_started_at = counted.window_started_at, window_count = counted.window_count,
      undispatched = counted.undispatched, undispatched_counted_at = counted.undispatched_counted_at
    FROM unnest(spaces) AS counted WHERE workspace.id = counted.id
  )
  INSERT INTO outbox (run_id, workspace_id, provider, queue, place, reserved_micros, excess_micros, waiting, due_at)
  SELECT "runId", space_id, line_of(provider, space_id, facts), CASE WHEN ready THEN 'dispatch' ELSE 'backlog' END, places[ordinality], costs[ordinality],
    excesses[ordinality], ready, 'infinity'
  FROM admitted;
  RETURN to_jsonb(results);
END $$;
`;
