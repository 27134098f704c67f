/**
 * `admit(items, bodies)`: one round trip for a batch. Lock order is keys, then workspace rows, each sorted,
 * in every caller: two gateways that admit overlapping batches cannot deadlock. The result lists, in the
 * order given, `admitted` (with stage and position), `existing` (the key is in use) or `refused` (which
 * limit, with its numbers). A refused item leaves nothing behind, its key included.
 */
export const admit = /* sql */ `
CREATE FUNCTION admit(items jsonb, bodies bytea[]) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  results jsonb[] := array_fill(NULL::jsonb, ARRAY[jsonb_array_length(items)]);
  entry record;
  holder record;
  space workspace%ROWTYPE;
  space_id uuid;
  cost bigint;
  refusal text;
  fits boolean;
  ahead integer;
  parked integer;
  this_place bigint;
  first_parked bigint;
  this_moment timestamptz;
  this_window timestamptz;
BEGIN
  FOR entry IN
    SELECT item, ord::integer FROM jsonb_array_elements(items) WITH ORDINALITY AS each (item, ord)
    WHERE item ->> 'key' IS NOT NULL
    ORDER BY item ->> 'workspaceId', item ->> 'key', ord
  LOOP
    LOOP
      INSERT INTO idempotency_key (workspace_id, key, fingerprint, run_id, expires_at)
      VALUES ((entry.item ->> 'workspaceId')::uuid, entry.item ->> 'key', decode(entry.item ->> 'fingerprint', 'hex'),
        (entry.item ->> 'runId')::uuid, router_now() + interval '24 hours')
      ON CONFLICT DO NOTHING;
      EXIT WHEN FOUND;
      SELECT * INTO holder FROM idempotency_key
      WHERE workspace_id = (entry.item ->> 'workspaceId')::uuid AND key = entry.item ->> 'key';
      CONTINUE WHEN NOT FOUND;
      IF holder.expires_at <= router_now() THEN
        DELETE FROM idempotency_key
        WHERE workspace_id = holder.workspace_id AND key = holder.key AND run_id = holder.run_id;
      ELSE
        results[entry.ord] := jsonb_build_object('kind', 'existing', 'runId', holder.run_id,
          'delivered', holder.deliveries > 0,
          'matches', holder.fingerprint = decode(entry.item ->> 'fingerprint', 'hex'));
        EXIT;
      END IF;
    END LOOP;
  END LOOP;

  FOR space_id IN
    SELECT DISTINCT (item ->> 'workspaceId')::uuid FROM jsonb_array_elements(items) AS each (item) ORDER BY 1
  LOOP
    SELECT * INTO STRICT space FROM workspace WHERE id = space_id FOR NO KEY UPDATE;
    -- One instant for the window and for the rows: a run that counts in one minute is not dated in the next.
    this_moment := router_now();
    this_window := date_trunc('minute', this_moment);
    IF space.window_started_at < this_window THEN
      space.window_started_at := this_window;
      space.window_count := 0;
    END IF;
    ahead := space.backlog + CASE WHEN space.inflight = 0 THEN 0 ELSE granted_ahead(space_id, 9223372036854775807) END;
    parked := 0;

    FOR entry IN
      SELECT item, ord::integer FROM jsonb_array_elements(items) WITH ORDINALITY AS each (item, ord)
      WHERE (item ->> 'workspaceId')::uuid = space_id ORDER BY ord
    LOOP
      CONTINUE WHEN results[entry.ord] IS NOT NULL;
      cost := ceil((entry.item ->> 'reservedMicros')::bigint * space.markup);
      fits := space.inflight < space.inflight_limit
        AND space.committed_micros + cost <= space.committed_limit_micros;
      refusal := CASE
        WHEN cost > space.committed_limit_micros THEN 'ceiling'
        WHEN space.balance_micros - space.held_micros < cost THEN 'credits'
        WHEN space.window_count >= space.window_limit THEN 'window'
        WHEN entry.item ->> 'mode' = 'sync' AND space.inflight >= space.inflight_limit THEN 'inflight'
        WHEN entry.item ->> 'mode' = 'sync' AND NOT fits THEN 'spend'
        WHEN entry.item ->> 'mode' = 'queued' AND (space.backlog > 0 OR NOT fits)
          AND space.backlog >= space.backlog_limit THEN 'backlog'
      END;
      IF refusal IS NOT NULL THEN
        DELETE FROM idempotency_key
        WHERE workspace_id = space_id AND key = entry.item ->> 'key' AND run_id = (entry.item ->> 'runId')::uuid;
        results[entry.ord] := jsonb_build_object('kind', 'refused', 'limit', refusal,
          'inflight', space.inflight, 'inflightLimit', space.inflight_limit,
          'committedMicros', space.committed_micros, 'committedLimitMicros', space.committed_limit_micros,
          'backlogLimit', space.backlog_limit, 'windowLimit', space.window_limit);
        CONTINUE;
      END IF;

      fits := fits AND (entry.item ->> 'mode' = 'sync' OR space.backlog = 0);
      INSERT INTO run (id, workspace_id, model, provider, mode, stage, facts, reserved_micros, computed_micros, markup,
        credential, call, admitted_position, admitted_at, granted_at)
      VALUES ((entry.item ->> 'runId')::uuid, space_id, entry.item ->> 'model', entry.item ->> 'provider',
        entry.item ->> 'mode', CASE WHEN fits THEN 'ready' ELSE 'parked' END, entry.item -> 'facts', cost,
        ceil((entry.item ->> 'computedMicros')::bigint * space.markup), space.markup,
        entry.item ->> 'credential', entry.item -> 'call', ahead, this_moment, CASE WHEN fits THEN router_now() END);
      INSERT INTO payload (run_id, kind, media_type, body, stored_as)
      VALUES ((entry.item ->> 'runId')::uuid, 'input', 'application/json', bodies[entry.ord], entry.item ->> 'storedAs');
      IF entry.item ? 'storedAs' THEN
        PERFORM need_objects(ARRAY[entry.item ->> 'storedAs']);
      END IF;
      -- The gateway enqueues at once; the reconciler, a second later at most, only when it could not.
      INSERT INTO outbox (run_id, workspace_id, provider, queue, reserved_micros, due_at)
      VALUES ((entry.item ->> 'runId')::uuid, space_id, entry.item ->> 'provider',
        CASE WHEN fits THEN 'dispatch' ELSE 'backlog' END, cost,
        CASE WHEN fits THEN router_now() + interval '500 milliseconds' ELSE 'infinity' END)
      RETURNING place INTO this_place;
      space.held_micros := space.held_micros + cost;
      space.window_count := space.window_count + 1;
      IF fits THEN
        space.inflight := space.inflight + 1;
        space.committed_micros := space.committed_micros + cost;
      ELSE
        space.backlog := space.backlog + 1;
        first_parked := CASE parked WHEN 0 THEN this_place ELSE first_parked END;
        parked := parked + 1;
      END IF;
      results[entry.ord] := jsonb_build_object('kind', 'admitted', 'runId', entry.item ->> 'runId',
        'ready', fits, 'position', ahead);
      ahead := ahead + 1;
    END LOOP;

    IF parked > 0 THEN
      PERFORM enter_backlog(space_id, first_parked, parked);
    END IF;

    UPDATE workspace SET inflight = space.inflight, committed_micros = space.committed_micros,
      held_micros = space.held_micros, backlog = space.backlog,
      window_started_at = space.window_started_at, window_count = space.window_count
    WHERE id = space_id;
  END LOOP;
  RETURN to_jsonb(results);
END $$;
`;
