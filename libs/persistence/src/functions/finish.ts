/**
 * `finish_all(workspaces, runs, bodies, waits)`: the one terminal write, of runs of the workspaces at their places under
 * the locks of these workspaces' rows. Sets each run terminal if its claim still stands, settles the spend, writes ledger
 * and audit record, frees the slot and promotes parked runs; a webhook that the caller asked for becomes due. The first
 * writer wins; later ones get `won: false` and change nothing. It answers for each run in the order given; without
 * `waits`, null for a workspace that somebody else has locked. `finish(workspace, run, epoch, ending)` ends one that has
 * no output.
 *
 * The winner also gets `record`, what log and metrics say of the run.
 *
 * `runs`: `[{runId, epoch, ending, bodyFrom?, bodyBytes?}]`, of which the last two say where its output is in `bodies`.
 * `ending`: `{outcome, status, bucket?, failure?, mediaType?, storedAs?, assets?, linkExpiresAt?, providerUrls?, billable,
 * reportedMicros?}`. What is billed is what the provider reported, else the computed price, and never more than was
 * reserved.
 */
export const finish = /* sql */ `
CREATE OR REPLACE FUNCTION milliseconds_between(since timestamptz, until timestamptz) RETURNS float LANGUAGE sql IMMUTABLE
RETURN greatest(0, extract(epoch FROM until - since) * 1000)::float;

CREATE OR REPLACE FUNCTION finish_all(space_ids uuid[], runs jsonb, bodies bytea, waits boolean) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  results jsonb[] := array_fill(NULL::jsonb, ARRAY[cardinality(space_ids)]);
  space workspace%ROWTYPE;
  nth integer;
  entry jsonb;
  ending jsonb;
  output bytea;
  done run%ROWTYPE;
  gone outbox%ROWTYPE;
  billed bigint;
  basis text;
  granted jsonb;
  last_won integer;
BEGIN
  FOR space IN SELECT * FROM locked_workspaces(space_ids, waits) LOOP
    last_won := NULL;
    FOREACH nth IN ARRAY array_positions(space_ids, space.id) LOOP
      entry := runs -> (nth - 1);
      ending := entry -> 'ending';
      output := substr(bodies, (entry -> 'bodyFrom')::integer, (entry -> 'bodyBytes')::integer);
      UPDATE run SET stage = 'completed', completed_at = router_now(), lease_until = NULL,
        outcome = ending ->> 'outcome', bucket = ending ->> 'bucket', status = (ending ->> 'status')::integer,
        failure = ending -> 'failure', provider_urls = coalesce((ending ->> 'providerUrls')::boolean, false),
        (reported_micros, billed_micros) = (
          SELECT reported, CASE WHEN (ending ->> 'billable')::boolean
            THEN least(reserved_micros, coalesce(ceil(reported * markup), computed_micros)) ELSE 0 END
          FROM (SELECT coalesce((ending ->> 'reportedMicros')::bigint, reported_micros) AS reported) AS reply
        )
      WHERE id = (entry ->> 'runId')::uuid AND epoch = (entry ->> 'epoch')::integer AND stage <> 'completed'
      RETURNING * INTO done;
      IF NOT FOUND THEN
        results[nth] := jsonb_build_object('won', false, 'granted', '[]'::jsonb);
        CONTINUE;
      END IF;
      last_won := nth;
      billed := done.billed_micros;
      basis := CASE WHEN (ending ->> 'billable')::boolean
        THEN CASE WHEN done.reported_micros IS NULL THEN done.facts ->> 'basis' ELSE 'reported' END END;

      IF done.outcome = 'succeeded' THEN
        IF done.output_at IS NULL THEN
          INSERT INTO payload (run_id, kind, media_type, body, stored_as)
          VALUES (done.id, 'output', ending ->> 'mediaType', output, ending ->> 'storedAs');
        ELSE
          -- What was kept while assets were copied is replaced; an object of the store that it lay in can go.
          UPDATE stored_object SET delete_at = router_now()
          FROM payload WHERE payload.run_id = done.id AND kind = 'output' AND key = stored_as;
          UPDATE payload SET body = output, stored_as = ending ->> 'storedAs' WHERE run_id = done.id AND kind = 'output';
        END IF;
        IF ending ? 'storedAs' THEN
          PERFORM need_objects(ARRAY[ending ->> 'storedAs']);
        END IF;
        IF ending ? 'assets' THEN
          PERFORM need_objects(ARRAY(SELECT jsonb_array_elements_text(ending -> 'assets')), (ending ->> 'linkExpiresAt')::timestamptz);
        END IF;
      END IF;
      DELETE FROM outbox WHERE workspace_id = space.id AND run_id = done.id RETURNING * INTO STRICT gone;
      space.held_micros := space.held_micros - done.reserved_micros;
      space.balance_micros := space.balance_micros - billed;
      IF gone.queue = 'backlog' THEN
        space.backlog := space.backlog - 1;
        PERFORM leave_backlog(space.id, gone.place);
      ELSE
        space.inflight := space.inflight - 1;
        space.committed_micros := space.committed_micros - done.reserved_micros;
      END IF;
      IF billed > 0 THEN
        INSERT INTO ledger_entry (workspace_id, run_id, amount_micros, balance_micros, basis, note)
        VALUES (space.id, done.id, -billed, space.balance_micros, basis,
          done.model || coalesce(' by ' || (done.facts ->> 'server'), ''));
      END IF;
      INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, bucket, status,
        caller_left, admitted_at, granted_at, dispatched_at, output_at, completed_at, cost_micros, billed_micros, basis)
      VALUES (done.id, space.id, (done.call ->> 'requestId')::uuid, done.credential, done.model, done.provider,
        done.call ->> 'route', done.outcome, done.bucket, done.status, done.caller_left_at IS NOT NULL, done.admitted_at,
        done.granted_at, done.dispatched_at, done.output_at, done.completed_at, done.reserved_micros, billed, basis);
      -- Nothing is with the partner, or the caller is told to try again: the same key may start another run.
      IF done.sent_at IS NULL OR done.bucket = 'service_unavailable' THEN
        DELETE FROM idempotency_key WHERE workspace_id = space.id
          AND key = done.call ->> 'idempotencyKey' AND run_id = done.id;
      END IF;
      granted := '[]';
      IF done.call ? 'webhook' THEN
        -- As with a run: enqueued at once, and by the reconciler only when that could not be.
        INSERT INTO webhook (run_id, workspace_id, model, origin, bucket, completed_at, url, receiver, form, due_at)
        VALUES (done.id, space.id, done.model, done.call ->> 'origin', done.bucket, done.completed_at,
          done.call -> 'webhook' ->> 'url', done.call -> 'webhook' ->> 'receiver', done.call -> 'webhook' ->> 'form',
          router_now() + interval '500 milliseconds');
        granted := granted || jsonb_build_object('runId', done.id, 'provider', done.provider, 'queue', 'webhooks');
      END IF;
      results[nth] := jsonb_build_object('won', true, 'granted', granted, 'record', jsonb_build_object(
        'workspaceId', space.id, 'provider', done.provider, 'model', done.model, 'delivery', done.mode,
        'outcome', done.outcome, 'bucket', done.bucket, 'billedMicros', billed, 'server', done.facts ->> 'server', 'basis', basis,
        'reservedMicros', done.reserved_micros, 'reportedMicros', ceil(done.reported_micros * done.markup), 'traceparent', done.facts ->> 'traceparent',
        'phasesMs', jsonb_strip_nulls(jsonb_build_object(
          'queue', milliseconds_between(done.admitted_at, coalesce(done.granted_at, done.completed_at)),
          'dispatch', milliseconds_between(done.granted_at, coalesce(done.dispatched_at, done.completed_at)),
          'provider', milliseconds_between(done.dispatched_at, coalesce(done.output_at, done.completed_at)),
          'assets', milliseconds_between(done.output_at, done.completed_at)))));
    END LOOP;

    -- Once for all of them, since each update of the row would be a version of it; parked runs are looked for after it.
    IF last_won IS NOT NULL THEN
      UPDATE workspace SET held_micros = space.held_micros, balance_micros = space.balance_micros,
        inflight = space.inflight, committed_micros = space.committed_micros, backlog = space.backlog
      WHERE id = space.id;
      IF space.backlog > 0 THEN
        SELECT coalesce(jsonb_agg(jsonb_build_object('runId', run_id, 'provider', provider)), '[]') INTO granted
        FROM promote(space.id);
        results[last_won] := jsonb_set(results[last_won], '{granted}', granted || (results[last_won] -> 'granted'));
      END IF;
    END IF;
  END LOOP;
  RETURN to_jsonb(results);
END $$;

CREATE OR REPLACE FUNCTION finish(space_id uuid, finished_id uuid, claimed_epoch integer, ending jsonb) RETURNS jsonb LANGUAGE sql
RETURN finish_all(ARRAY[space_id], jsonb_build_array(jsonb_build_object('runId', finished_id, 'epoch', claimed_epoch, 'ending', ending)),
  NULL, true) -> 0;
`;
