/**
 * `admit(workspaces, runs, bodies, waits)` admits runs, each into the workspace at the same position. It locks the
 * rows of these workspaces before it takes any other lock. `bodies` are the inputs, concatenated, because an array
 * of them would be sent as text. The results are in the order of the runs: `admitted` (with stage and position),
 * `existing` (the key is in use) or `refused` (with the limit and its numbers). Without `waits`, the result is null
 * for a workspace that another session has locked. A refused run leaves nothing behind, not even its key.
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

CREATE OR REPLACE FUNCTION admit(space_ids uuid[], runs jsonb, bodies bytea, waits boolean) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  results jsonb[] := array_fill(NULL::jsonb, ARRAY[cardinality(space_ids)]);
  locked workspace[];
  -- Updated as entries are admitted.
  spaces workspace[] := '{}';
  space workspace%ROWTYPE;
  this_moment timestamptz;
  this_window timestamptz;
  nth integer;
  entry admission;
  holder idempotency_key%ROWTYPE;
  cost bigint;
  refusal text;
  fits boolean;
  ahead integer;
  parked integer;
  first_parked bigint;
  -- Costs of the admitted entries, and their places in the line.
  costs bigint[] := '{}';
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
    ahead := NULL;
    parked := 0;
    first_parked := NULL;
    <<each_run>>
    FOREACH nth IN ARRAY array_positions(space_ids, space.id) LOOP
      entry := jsonb_populate_record(NULL::admission, runs -> (nth - 1));
      WHILE entry.key IS NOT NULL LOOP
        INSERT INTO idempotency_key (workspace_id, key, fingerprint, run_id, expires_at)
        VALUES (space.id, entry.key, decode(entry.fingerprint, 'hex'), entry."runId", router_now() + interval '24 hours')
        ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
        SELECT * INTO holder FROM idempotency_key WHERE workspace_id = space.id AND key = entry.key;
        CONTINUE WHEN NOT FOUND;
        IF holder.expires_at <= router_now() THEN
          DELETE FROM idempotency_key WHERE workspace_id = space.id AND key = holder.key AND run_id = holder.run_id;
        ELSE
          results[nth] := jsonb_build_object('kind', 'existing', 'runId', holder.run_id,
            'delivered', holder.deliveries > 0, 'matches', holder.fingerprint = decode(entry.fingerprint, 'hex'));
          CONTINUE each_run;
        END IF;
      END LOOP;

      cost := ceil(entry."reservedMicros" * price_factor(entry.facts, space.markup, space.own_key_fee));
      fits := space.inflight < space.inflight_limit
        AND space.committed_micros + cost <= space.committed_limit_micros;
      refusal := CASE
        WHEN cost > space.committed_limit_micros THEN 'ceiling'
        WHEN space.balance_micros - space.held_micros < cost THEN 'credits'
        WHEN space.window_count >= space.window_limit THEN 'window'
        WHEN entry.mode = 'sync' AND space.inflight >= space.inflight_limit THEN 'inflight'
        WHEN entry.mode = 'sync' AND NOT fits THEN 'spend'
        WHEN entry.mode = 'queued' AND (space.backlog > 0 OR NOT fits)
          AND space.backlog >= space.backlog_limit THEN 'backlog'
      END;
      IF refusal IS NOT NULL THEN
        DELETE FROM idempotency_key
        WHERE workspace_id = space.id AND key = entry.key AND run_id = entry."runId";
        results[nth] := jsonb_build_object('kind', 'refused', 'limit', refusal,
          'inflight', space.inflight, 'inflightLimit', space.inflight_limit,
          'committedMicros', space.committed_micros, 'committedLimitMicros', space.committed_limit_micros,
          'backlogLimit', space.backlog_limit, 'windowLimit', space.window_limit);
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
      places[nth] := nextval('admission_order');
      space.held_micros := space.held_micros + cost;
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
      results[nth] := jsonb_build_object('kind', 'admitted', 'runId', entry."runId", 'ready', fits, 'position', ahead);
      ahead := ahead + 1;
    END LOOP;
    IF parked > 0 THEN
      PERFORM enter_backlog(space.id, first_parked, parked);
    END IF;
    spaces := spaces || space;
  END LOOP;

  -- One statement writes all rows, because starting a statement takes longer than writing a row.
  WITH admitted AS MATERIALIZED (
    SELECT each.*, id AS space_id, price_factor(facts, markup, own_key_fee) AS factor, (results[ordinality] -> 'ready')::boolean AS ready
    FROM jsonb_populate_recordset(NULL::admission, runs) WITH ORDINALITY AS each
    JOIN unnest(spaces) ON id = space_ids[ordinality]
    WHERE costs[ordinality] IS NOT NULL
  ), inserted AS (
    INSERT INTO run (id, workspace_id, model, provider, mode, stage, facts, reserved_micros, computed_micros, markup,
      credential, call, admitted_position, admitted_at, granted_at)
    SELECT "runId", space_id, model, provider, mode, CASE WHEN ready THEN 'ready' ELSE 'parked' END, facts, costs[ordinality],
      ceil("computedMicros" * factor), factor, credential, call, (results[ordinality] -> 'position')::integer,
      this_moment, CASE WHEN ready THEN this_moment END
    FROM admitted
  ), inputs AS (
    INSERT INTO payload (run_id, kind, media_type, body, stored_as)
    SELECT "runId", 'input', 'application/json', substr(bodies, "bodyFrom", "bodyBytes"), "storedAs" FROM admitted
  ), counted AS (
    UPDATE workspace SET inflight = counted.inflight, committed_micros = counted.committed_micros,
      held_micros = counted.held_micros, backlog = counted.backlog,
      window_started_at = counted.window_started_at, window_count = counted.window_count,
      undispatched = counted.undispatched, undispatched_counted_at = counted.undispatched_counted_at
    FROM unnest(spaces) AS counted WHERE workspace.id = counted.id
  )
  INSERT INTO outbox (run_id, workspace_id, provider, queue, place, reserved_micros, waiting, due_at)
  SELECT "runId", space_id, line_of(provider, space_id, facts), CASE WHEN ready THEN 'dispatch' ELSE 'backlog' END, places[ordinality], costs[ordinality],
    ready, 'infinity'
  FROM admitted;
  RETURN to_jsonb(results);
END $$;
`;
