/**
 * Pauses of calls to a provider. A provider's own pause stops one line, an operator's all lines; see `lines.ts`.
 *
 * `pause_provider(provider, calls, asked_by, lasting, reason)` pauses calls, without an end if `lasting` is null.
 * It never shortens an existing pause. Returns true if there was none.
 *
 * `paused_ms(provider, calls)` returns how long a run should wait before it checks again, or null if there is no
 * pause. For a pause that the provider asked for, each run gets a different time, up to 1.5 times as long, because
 * runs that return all at once would all be rejected again. An operator's pause has no end, so runs check it again
 * within a minute.
 *
 * `last_due(since, until)` returns when the last run that such a pause postponed is due again.
 */
export const providerPause = /* sql */ `
CREATE OR REPLACE FUNCTION pause_provider(paused text, calls_paused text, requester text, lasting interval, why text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  this_moment timestamptz := router_now();
  ends timestamptz := coalesce(this_moment + lasting, 'infinity');
  stood boolean;
BEGIN
  SELECT until > this_moment INTO stood FROM provider_pause
  WHERE provider = paused AND calls = calls_paused AND asked_by = requester;
  INSERT INTO provider_pause AS pause VALUES (paused, calls_paused, requester, this_moment, ends, why)
  ON CONFLICT (provider, calls, asked_by) DO UPDATE SET
    since = CASE WHEN pause.until = 'infinity' THEN pause.since ELSE excluded.since END,
    until = excluded.until, reason = excluded.reason
  WHERE pause.until <= excluded.until;
  RETURN stood IS NOT TRUE;
END $$;

CREATE OR REPLACE FUNCTION last_due(since timestamptz, until timestamptz) RETURNS timestamptz LANGUAGE sql STABLE
RETURN CASE WHEN until = 'infinity' THEN until ELSE until + (until - since) / 2 END;

CREATE OR REPLACE FUNCTION paused_ms(paused text, calls_paused text) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT max(CASE WHEN until = 'infinity' THEN 50000
      ELSE milliseconds_left(until + random() / 2 * (until - since)) END)
    FROM provider_pause
    WHERE provider IN (paused, provider_of(paused)) AND (provider = paused OR asked_by = 'operator')
      AND calls = calls_paused AND until > router_now()
      -- A provider's pause that begins in the future was dated by a clock that ran ahead.
      AND (asked_by = 'operator' OR since < router_now() + interval '1 minute')
  );
END $$;
`;
