/**
 * `finish_all(workspaces, runs, bodies, waits)` is the only terminal write. It ends runs of the workspaces at the
 * same positions, under the locks of the workspace rows. For each run whose claim is still valid it sets the
 * outcome, settles the spend, writes the ledger and audit records, frees the slot and promotes parked runs; a
 * webhook that the caller asked for becomes due. The first writer wins. Later ones get `won: false` and change
 * nothing. The results are in the order of the runs; without `waits`, the result is null for a workspace that
 * another session has locked. `finish(workspace, run, epoch, ending)` ends one run without an output.
 *
 * An unlisted run has no audit record. The winner also gets `record`, the facts for log and metrics.
 *
 * `runs`: `[{runId, epoch, ending, bodyFrom?, bodyBytes?}]`, where the last two locate the output in `bodies`.
 * `ending`: `{outcome, status, bucket?, failure?, mediaType?, storedAs?, assets?, linkExpiresAt?, providerUrls?,
 * billable, reportedMicros?, arrivedMicros?, written?}`. The billed amount is the cost that the provider reported, or else the
 * price of the part of a stream that arrived, or else the computed price, and never more than the bound of the run. An
 * amount that the provider reports above the bound is the overshoot of the run.
 */
export const finish = /* sql */ `
CREATE OR REPLACE FUNCTION milliseconds_between(since timestamptz, until timestamptz) RETURNS float LANGUAGE sql IMMUTABLE
-- NULL if one is, which greatest() alone would turn into 0: a phase that the run has not reached has no length.
RETURN CASE WHEN until IS NOT NULL AND since IS NOT NULL THEN greatest(0, extract(epoch FROM until - since) * 1000)::float END;

-- A connection plans its statements once, perhaps while the tables are small, and a plan that reads a whole table would stay
-- when the table grows. Sequential scans are off for that reason, and arrays of keys keep every order of the joins on an index.
CREATE OR REPLACE FUNCTION finish_all(space_ids uuid[], runs jsonb, bodies bytea, waits boolean) RETURNS jsonb LANGUAGE plpgsql
SET enable_seqscan = off AS $$
DECLARE
  results jsonb[] := array_fill(NULL::jsonb, ARRAY[cardinality(space_ids)]);
  locked uuid[] := ARRAY(SELECT id FROM locked_workspaces(space_ids, waits));
  ids uuid[];
  first_id uuid;
  last_id uuid;
  done record;
  granted jsonb;
  -- Of runs that budgets count, by place: window, and what the run had reserved and is billed.
  windows bigint[];
  windows_held bigint[];
  windows_billed bigint[];
  overshoots provider_overshoot[] := '{}';
BEGIN
  IF cardinality(locked) = 0 THEN
    RETURN to_jsonb(results);
  END IF;
  FOR nth IN 1 .. cardinality(space_ids) LOOP
    CONTINUE WHEN space_ids[nth] <> ALL (locked);
    results[nth] := '{"won": false, "granted": []}';
    ids[nth] := runs -> (nth - 1) ->> 'runId';
    first_id := least(first_id, ids[nth]);
    last_id := greatest(last_id, ids[nth]);
  END LOOP;

  -- One statement writes all rows, because starting a statement takes longer than writing a row.
  FOR done IN
    WITH entry AS MATERIALIZED (
      -- If one claim finishes a run twice, the first outcome is kept.
      SELECT DISTINCT ON (run_id, claimed_epoch) * FROM ROWS FROM (
        jsonb_to_recordset(runs) AS ("runId" uuid, epoch integer, "bodyFrom" integer, "bodyBytes" integer, ending jsonb),
        unnest(space_ids)
      ) WITH ORDINALITY AS each (run_id, claimed_epoch, body_from, body_bytes, ending, space_id, nth),
      jsonb_to_record(ending) AS reply (outcome text, bucket text, status integer, failure jsonb, "providerUrls" boolean,
        billable boolean, "reportedMicros" bigint, "arrivedMicros" bigint)
      WHERE space_id = ANY (locked) ORDER BY run_id, claimed_epoch, nth
    ), ended AS (
      UPDATE run SET stage = 'completed', completed_at = router_now(), lease_until = NULL,
        outcome = entry.outcome, bucket = entry.bucket, status = entry.status, failure = entry.failure,
        provider_urls = coalesce("providerUrls", false), reported_micros = coalesce("reportedMicros", reported_micros),
        billed_micros = CASE WHEN billable
          THEN least(coalesce(bound_micros, reserved_micros), coalesce(ceil(coalesce("reportedMicros", reported_micros, "arrivedMicros") * markup), computed_micros)) ELSE 0 END,
        overshoot_micros = CASE WHEN billable
          THEN nullif(greatest(0, ceil(coalesce("reportedMicros", reported_micros) * markup) - coalesce(bound_micros, reserved_micros)), 0) END
      FROM entry
      -- The bounds prune the other days' partitions: opening all of them takes longer than the update.
      WHERE id = ANY (ids) AND id BETWEEN first_id AND last_id AND id = run_id AND epoch = claimed_epoch AND stage <> 'completed'
      RETURNING id, space_id, nth, ending, body_from, body_bytes, model, provider, mode, reserved_micros, coalesce(bound_micros, reserved_micros) AS bound, overshoot_micros, markup, credential, call,
        facts ->> 'server' AS server, facts -> 'price' AS price, facts ? 'ownKey' AS pays_provider, facts ? 'unlisted' AS unlisted, facts ->> 'traceparent' AS traceparent,
        coalesce((facts ->> 'simulated')::boolean, false) AS simulated, reported_micros, billed_micros,
        CASE WHEN billable THEN CASE WHEN facts ? 'ownKey' THEN 'own_key' WHEN reported_micros IS NULL THEN facts ->> 'basis' ELSE 'reported' END END AS basis,
        run.outcome, run.bucket, run.status, budget_windows, sent_at, caller_left_at, admitted_at, granted_at, dispatched_at, output_at, completed_at
    ), gone AS (
      DELETE FROM outbox USING ended
      WHERE workspace_id = ANY (locked) AND run_id = ANY (ids) AND workspace_id = space_id AND run_id = id RETURNING nth, place
    ), outputs AS (
      INSERT INTO payload (run_id, kind, media_type, body, stored_as)
      SELECT id, 'output', ending ->> 'mediaType', substr(bodies, body_from, body_bytes), ending ->> 'storedAs'
      FROM ended WHERE outcome = 'succeeded' AND output_at IS NULL
    ), billed AS (
      INSERT INTO ledger_entry (workspace_id, run_id, amount_micros, balance_micros, basis, note)
      SELECT space_id, ended.id, -billed_micros,
        balance_micros - sum(billed_micros) OVER (PARTITION BY space_id ORDER BY nth), basis, model || coalesce(' by ' || server, '')
      FROM ended JOIN workspace ON workspace.id = ANY (locked) AND workspace.id = space_id
      WHERE billed_micros > 0 ORDER BY space_id, nth
    ), recorded AS (
      INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, bucket, status,
        caller_left, admitted_at, granted_at, dispatched_at, output_at, completed_at, cost_micros, billed_micros, basis, simulated,
        attribution, budget_windows, overshoot_micros, written)
      SELECT id, space_id, (call ->> 'requestId')::uuid, credential, model, provider, call ->> 'route', outcome, bucket, status,
        caller_left_at IS NOT NULL, admitted_at, granted_at, dispatched_at, output_at, completed_at, reserved_micros,
        billed_micros, basis, simulated, call -> 'attribution', budget_windows, overshoot_micros, ending -> 'written'
      FROM ended WHERE NOT unlisted
    ), called AS (
      -- Enqueued at once, like a run; the reconciler picks it up if that fails.
      INSERT INTO webhook (run_id, workspace_id, model, origin, bucket, completed_at, url, receiver, form, due_at)
      SELECT id, space_id, model, call ->> 'origin', bucket, completed_at, call #>> '{webhook,url}', call #>> '{webhook,receiver}',
        call #>> '{webhook,form}', router_now() + interval '500 milliseconds'
      FROM ended WHERE call ? 'webhook'
    ), counted AS (
      UPDATE workspace SET held_micros = held_micros - held, excess_micros = excess_micros - excess, balance_micros = balance_micros - billed,
        inflight = inflight - slots, committed_micros = committed_micros - committed, backlog = backlog - parked
      FROM (
        SELECT space_id, max(nth) AS last_won, sum(reserved_micros) AS held, sum(bound - reserved_micros) AS excess,
          sum(billed_micros) AS billed, count(granted_at) AS slots,
          coalesce(sum(reserved_micros) FILTER (WHERE granted_at IS NOT NULL), 0) AS committed, count(*) - count(granted_at) AS parked
        FROM ended GROUP BY space_id
      ) AS sums WHERE workspace.id = ANY (locked) AND workspace.id = space_id
      RETURNING last_won, backlog
    )
    SELECT *, (SELECT place FROM gone WHERE gone.nth = ended.nth) AS place,
      (SELECT backlog FROM counted WHERE last_won = ended.nth) AS backlog
    FROM ended ORDER BY space_id, nth
  LOOP
    IF done.place IS NULL THEN
      RAISE EXCEPTION 'run % was live without an outbox row', done.id;
    ELSIF done.granted_at IS NULL THEN
      PERFORM leave_backlog(done.space_id, done.place);
    END IF;

    IF done.outcome = 'succeeded' THEN
      IF done.output_at IS NOT NULL THEN
        -- Replaces the output kept while assets were copied, and marks its stored object for deletion.
        UPDATE stored_object SET delete_at = router_now()
        FROM payload WHERE payload.run_id = done.id AND kind = 'output' AND key = stored_as;
        UPDATE payload SET body = substr(bodies, done.body_from, done.body_bytes), stored_as = done.ending ->> 'storedAs'
        WHERE run_id = done.id AND kind = 'output';
      END IF;
      IF done.ending ? 'storedAs' THEN
        PERFORM need_objects(ARRAY[done.ending ->> 'storedAs']);
      END IF;
      IF done.ending ? 'assets' THEN
        PERFORM need_objects(ARRAY(SELECT jsonb_array_elements_text(done.ending -> 'assets')),
          (done.ending ->> 'linkExpiresAt')::timestamptz);
      END IF;
    END IF;
    IF done.call ? 'attribution' AND NOT done.unlisted THEN
      INSERT INTO run_attribution (workspace_id, dimension, value, run_id)
      SELECT done.space_id, key, value, done.id FROM jsonb_each_text(done.call -> 'attribution');
    END IF;
    IF done.budget_windows IS NOT NULL THEN
      windows := windows || done.budget_windows;
      windows_held := windows_held || array_fill(done.reserved_micros::bigint, ARRAY[cardinality(done.budget_windows)]);
      windows_billed := windows_billed || array_fill(done.billed_micros::bigint, ARRAY[cardinality(done.budget_windows)]);
    END IF;
    -- A workspace that pays the provider loses nothing of ours, and the simulator's figures say nothing about a price.
    IF done.overshoot_micros > 0 AND done.price IS NOT NULL AND NOT done.pays_provider AND NOT done.simulated THEN
      overshoots := overshoots || ROW(done.price ->> 'row', done.price ->> 'digest',
        coalesce((done.price ->> 'lift')::float, 1) * (done.bound + done.overshoot_micros) / greatest(done.bound, 1), 1,
        done.overshoot_micros, done.id, NULL, NULL)::provider_overshoot;
    END IF;
    -- The provider has no run, or the caller is told to retry, so the same key may start another run.
    IF done.sent_at IS NULL OR done.bucket = 'service_unavailable' THEN
      DELETE FROM idempotency_key WHERE workspace_id = done.space_id
        AND key = done.call ->> 'idempotencyKey' AND run_id = done.id;
      DELETE FROM unkeyed_call WHERE run_id = done.id;
    END IF;

    granted := '[]';
    -- Parked runs are promoted after the workspace's last run, when its row counts everything that was freed.
    IF done.backlog > 0 THEN
      SELECT coalesce(jsonb_agg(jsonb_build_object('runId', run_id, 'provider', provider)), '[]') INTO granted
      FROM promote(done.space_id);
    END IF;
    IF done.call ? 'webhook' THEN
      granted := granted || jsonb_build_object('runId', done.id, 'provider', done.provider, 'queue', 'webhooks');
    END IF;
    results[done.nth] := jsonb_build_object('won', true, 'granted', granted, 'record', jsonb_build_object(
      'workspaceId', done.space_id, 'provider', done.provider, 'model', done.model, 'delivery', done.mode,
      'outcome', done.outcome, 'bucket', done.bucket, 'billedMicros', done.billed_micros, 'server', done.server, 'basis', done.basis,
      'reservedMicros', done.reserved_micros, 'overshootMicros', done.overshoot_micros,
      'lostMicros', CASE WHEN NOT done.pays_provider AND NOT done.simulated THEN done.overshoot_micros END, 'reportedMicros', ceil(done.reported_micros * done.markup),
      'traceparent', done.traceparent, 'callId', done.call ->> 'requestId', 'phasesMs', jsonb_strip_nulls(jsonb_build_object(
        'queue', milliseconds_between(done.admitted_at, coalesce(done.granted_at, done.completed_at)),
        'dispatch', milliseconds_between(done.granted_at, coalesce(done.dispatched_at, done.completed_at)),
        'provider', milliseconds_between(done.dispatched_at, coalesce(done.output_at, done.completed_at)),
        'assets', milliseconds_between(done.output_at, done.completed_at)))));
  END LOOP;
  IF overshoots <> '{}' THEN
    PERFORM note_overshoots(overshoots);
  END IF;
  IF windows IS NOT NULL THEN
    PERFORM settle_budgets(windows, windows_held, windows_billed);
  END IF;
  RETURN to_jsonb(results);
END $$;

CREATE OR REPLACE FUNCTION finish(space_id uuid, finished_id uuid, claimed_epoch integer, ending jsonb) RETURNS jsonb LANGUAGE sql
RETURN finish_all(ARRAY[space_id], jsonb_build_array(jsonb_build_object('runId', finished_id, 'epoch', claimed_epoch, 'ending', ending)),
  NULL, true) -> 0;
`;
