/**
 * `note_attempts(runs)` adds attempts to runs: `[{runId, leftOut, attempts: [{…, firstAgoMs, lastAgoMs, count}]}]`,
 * oldest first. Equal consecutive attempts become one with a count, the time of the first and that of the last. A run
 * keeps its first ten and its last ten, and the number of calls between them.
 */
export const attempts = /* sql */ `
-- What makes two attempts equal. Replies and their ids differ from call to call.
CREATE OR REPLACE FUNCTION attempt_kind(attempt jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE
RETURN attempt - '{at,lastAt,count,requestId,reply}'::text[];

CREATE OR REPLACE FUNCTION note_attempts(runs jsonb) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  this_moment timestamptz := router_now();
  entry record;
  noted jsonb;
  added jsonb;
  latest jsonb;
  kept jsonb;
  skipped integer;
BEGIN
  -- Ordered, so that two workers never wait for each other.
  FOR entry IN
    SELECT * FROM jsonb_to_recordset(runs) AS each ("runId" uuid, "leftOut" integer, attempts jsonb) ORDER BY "runId"
  LOOP
    -- A run that ages out meanwhile must leave no row behind. This lock does not delay the run's own writes.
    PERFORM FROM run WHERE id = entry."runId" FOR KEY SHARE;
    CONTINUE WHEN NOT FOUND;
    INSERT INTO run_attempts (run_id, provider, noted_at) VALUES (entry."runId", '', this_moment) ON CONFLICT DO NOTHING;
    SELECT attempts, left_out + entry."leftOut" INTO kept, skipped FROM run_attempts WHERE run_id = entry."runId" FOR UPDATE;
    FOR noted IN SELECT value FROM jsonb_array_elements(entry.attempts) LOOP
      added := (noted - '{firstAgoMs,lastAgoMs}'::text[]) || jsonb_build_object(
        'at', this_moment - (noted ->> 'firstAgoMs')::float * interval '1 millisecond',
        'lastAt', this_moment - (noted ->> 'lastAgoMs')::float * interval '1 millisecond');
      latest := kept -> -1;
      IF attempt_kind(latest) = attempt_kind(added) THEN
        kept := jsonb_set(kept, '{-1}', added || jsonb_build_object(
          'at', least((latest ->> 'at')::timestamptz, (added ->> 'at')::timestamptz),
          'lastAt', greatest((latest ->> 'lastAt')::timestamptz, (added ->> 'lastAt')::timestamptz),
          'count', (latest ->> 'count')::integer + (added ->> 'count')::integer));
      ELSE
        kept := kept || jsonb_build_array(added);
        IF jsonb_array_length(kept) > 20 THEN
          skipped := skipped + (kept -> 10 ->> 'count')::integer;
          kept := kept - 10;
        END IF;
      END IF;
    END LOOP;
    UPDATE run_attempts SET attempts = kept, left_out = skipped, provider = kept -> -1 ->> 'provider', noted_at = this_moment
    WHERE run_id = entry."runId";
  END LOOP;
END $$;
`;
