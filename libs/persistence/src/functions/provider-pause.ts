/**
 * Pauses: until when which calls are not made to a provider, and who asked for that.
 *
 * `pause_provider(provider, calls, asked_by, lasting, reason)`, without an end when `lasting` is null, never shortens what
 * stands; true when nothing stood.
 *
 * `paused_ms(provider, calls)`: how long a run is to wait before it looks again; null when there is no pause. What a
 * provider asked for ends for each run at a moment of its own, up to half as long again: a crowd that comes back at
 * once is refused at once. An operator's has no end, so it is looked at again within a minute.
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

CREATE OR REPLACE FUNCTION paused_ms(paused text, calls_paused text) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT max(CASE WHEN until = 'infinity' THEN 50000
      ELSE milliseconds_left(until + random() / 2 * (until - since)) END)
    FROM provider_pause WHERE provider = paused AND calls = calls_paused AND until > router_now()
      -- A provider's pause that begins in the future was dated by a clock that ran ahead.
      AND (asked_by = 'operator' OR since < router_now() + interval '1 minute')
  );
END $$;
`;
