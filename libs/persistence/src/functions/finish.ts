/**
 * `finish(run, epoch, ending, body)`: the one terminal write, under the lock of the workspace's row. Sets the run
 * terminal if its claim still stands, settles the spend, writes ledger and audit record, frees the slot
 * and promotes parked runs; a webhook that the caller asked for becomes due. The first writer wins; later ones get `won: false` and change nothing.
 *
 * The winner also gets `record`, what log and metrics say of the run.
 *
 * `ending`: `{outcome, status, bucket?, failure?, mediaType?, storedAs?, assets?, linkExpiresAt?, providerUrls?, billable,
 * reportedMicros?}`. What is billed is what the partner reported, else the computed price, and never more than was
 * reserved.
 *
 * `finish_all(workspace, runs, bodies, waits)` does so for runs of one workspace and answers for each in the order given.
 * Without `waits` a workspace whose row is locked answers null.
 */
export const finish = /* sql */ `
CREATE FUNCTION milliseconds_between(since timestamptz, until timestamptz) RETURNS float LANGUAGE sql IMMUTABLE
RETURN greatest(0, extract(epoch FROM until - since) * 1000)::float;

CREATE FUNCTION finish(finished_id uuid, claimed_epoch integer, ending jsonb, body bytea) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  done run%ROWTYPE;
  gone outbox%ROWTYPE;
  billed bigint;
  basis text;
  left_micros bigint;
  parked integer;
  granted jsonb := '[]';
BEGIN
  UPDATE run SET stage = 'completed', completed_at = router_now(), lease_until = NULL,
    outcome = ending ->> 'outcome', bucket = ending ->> 'bucket', status = (ending ->> 'status')::integer,
    failure = ending -> 'failure', provider_urls = coalesce((ending ->> 'providerUrls')::boolean, false),
    (reported_micros, billed_micros) = (
      SELECT reported, CASE WHEN (ending ->> 'billable')::boolean
        THEN least(reserved_micros, coalesce(ceil(reported * markup), computed_micros)) ELSE 0 END
      FROM (SELECT coalesce((ending ->> 'reportedMicros')::bigint, reported_micros) AS reported) AS reply
    )
  WHERE id = finished_id AND epoch = claimed_epoch AND stage <> 'completed'
  RETURNING * INTO done;
  IF NOT FOUND THEN
    RETURN jsonb_build_object('won', false, 'granted', '[]'::jsonb);
  END IF;
  billed := done.billed_micros;
  basis := CASE WHEN (ending ->> 'billable')::boolean
    THEN CASE WHEN done.reported_micros IS NULL THEN done.facts ->> 'basis' ELSE 'reported' END END;

  IF done.outcome = 'succeeded' THEN
    -- What was kept while assets were copied is replaced; an object of the store that it lay in can go.
    UPDATE stored_object SET delete_at = router_now()
    FROM payload WHERE payload.run_id = done.id AND kind = 'output' AND key = stored_as;
    INSERT INTO payload (run_id, kind, media_type, body, stored_as)
    VALUES (done.id, 'output', ending ->> 'mediaType', body, ending ->> 'storedAs')
    ON CONFLICT (run_id, kind) DO UPDATE SET body = excluded.body, stored_as = excluded.stored_as;
    IF ending ? 'storedAs' THEN
      PERFORM need_objects(ARRAY[ending ->> 'storedAs']);
    END IF;
    IF ending ? 'assets' THEN
      PERFORM need_objects(ARRAY(SELECT jsonb_array_elements_text(ending -> 'assets')), (ending ->> 'linkExpiresAt')::timestamptz);
    END IF;
  END IF;
  DELETE FROM outbox WHERE run_id = done.id RETURNING * INTO STRICT gone;
  UPDATE workspace SET
    held_micros = held_micros - done.reserved_micros,
    balance_micros = balance_micros - billed,
    inflight = inflight - CASE WHEN gone.queue = 'backlog' THEN 0 ELSE 1 END,
    committed_micros = committed_micros - CASE WHEN gone.queue = 'backlog' THEN 0 ELSE done.reserved_micros END,
    backlog = backlog - CASE WHEN gone.queue = 'backlog' THEN 1 ELSE 0 END
  WHERE id = done.workspace_id RETURNING balance_micros, backlog INTO left_micros, parked;
  IF gone.queue = 'backlog' THEN
    PERFORM leave_backlog(done.workspace_id, gone.place);
  END IF;
  IF billed > 0 THEN
    INSERT INTO ledger_entry (workspace_id, run_id, amount_micros, balance_micros, basis, note)
    VALUES (done.workspace_id, done.id, -billed, left_micros, basis,
      done.model || coalesce(' by ' || (done.facts ->> 'server'), ''));
  END IF;
  INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, bucket, status,
    caller_left, admitted_at, granted_at, dispatched_at, output_at, completed_at, cost_micros, billed_micros, basis)
  VALUES (done.id, done.workspace_id, (done.call ->> 'requestId')::uuid, done.credential, done.model, done.provider,
    done.call ->> 'route', done.outcome, done.bucket, done.status, done.caller_left_at IS NOT NULL, done.admitted_at,
    done.granted_at, done.dispatched_at, done.output_at, done.completed_at, done.reserved_micros, billed, basis);
  -- Nothing is with the partner, or the caller is told to try again: the same key may start another run.
  IF done.sent_at IS NULL OR done.bucket = 'service_unavailable' THEN
    DELETE FROM idempotency_key WHERE workspace_id = done.workspace_id
      AND key = done.call ->> 'idempotencyKey' AND run_id = done.id;
  END IF;

  IF parked > 0 THEN
    SELECT coalesce(jsonb_agg(jsonb_build_object('runId', run_id, 'provider', provider)), '[]') INTO granted
    FROM promote(done.workspace_id);
  END IF;
  IF done.call ? 'webhook' THEN
    -- As with a run: enqueued at once, and by the reconciler only when that could not be.
    INSERT INTO webhook (run_id, workspace_id, model, origin, bucket, completed_at, url, receiver, form, due_at)
    VALUES (done.id, done.workspace_id, done.model, done.call ->> 'origin', done.bucket, done.completed_at,
      done.call -> 'webhook' ->> 'url', done.call -> 'webhook' ->> 'receiver', done.call -> 'webhook' ->> 'form',
      router_now() + interval '500 milliseconds');
    granted := granted || jsonb_build_object('runId', done.id, 'provider', done.provider, 'queue', 'webhooks');
  END IF;
  RETURN jsonb_build_object('won', true, 'granted', granted, 'record', jsonb_build_object(
    'workspaceId', done.workspace_id, 'provider', done.provider, 'model', done.model, 'delivery', done.mode,
    'outcome', done.outcome, 'bucket', done.bucket, 'billedMicros', billed, 'server', done.facts ->> 'server', 'basis', basis,
    'reservedMicros', done.reserved_micros, 'reportedMicros', ceil(done.reported_micros * done.markup), 'traceparent', done.facts ->> 'traceparent',
    'phasesMs', jsonb_strip_nulls(jsonb_build_object(
      'queue', milliseconds_between(done.admitted_at, coalesce(done.granted_at, done.completed_at)),
      'dispatch', milliseconds_between(done.granted_at, coalesce(done.dispatched_at, done.completed_at)),
      'provider', milliseconds_between(done.dispatched_at, coalesce(done.output_at, done.completed_at)),
      'assets', milliseconds_between(done.output_at, done.completed_at)))));
END $$;

CREATE FUNCTION finish_all(space_id uuid, runs jsonb, bodies bytea[], waits boolean) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  results jsonb[] := '{}';
  entry record;
  nth integer := 0;
BEGIN
  IF waits THEN
    PERFORM 1 FROM workspace WHERE id = space_id FOR NO KEY UPDATE;
  ELSE
    PERFORM 1 FROM workspace WHERE id = space_id FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
  END IF;
  FOR entry IN SELECT * FROM jsonb_to_recordset(runs) AS each ("runId" uuid, epoch integer, ending jsonb) LOOP
    nth := nth + 1;
    results[nth] := finish(entry."runId", entry.epoch, entry.ending, bodies[nth]);
  END LOOP;
  RETURN to_jsonb(results);
END $$;
`;
