/** How many runs of a provider count for its health: those with the newest results. */
const healthRuns = 20;

/**
 * The results of the workers' calls, from which the health of providers is read: one row for each provider, of bounded
 * size.
 *
 * `note_provider_results(noted)` adds results. `noted`: `[{provider, answeredMs?, results: [{run, ms, result}]}]`, with
 * ages in milliseconds. A run counts with its newest result, and the newest runs are kept.
 */
export const providerHealth = /* sql */ `
CREATE OR REPLACE FUNCTION newest_results(known jsonb, added jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(jsonb_agg(one ORDER BY (one ->> 'at')::numeric DESC), '[]') FROM (
    SELECT one FROM (
      SELECT DISTINCT ON (one ->> 'run') one FROM jsonb_array_elements(known || added) AS one
      ORDER BY one ->> 'run', (one ->> 'at')::numeric DESC
    ) AS of_runs ORDER BY (one ->> 'at')::numeric DESC LIMIT ${healthRuns}
  ) AS newest
$$;

CREATE OR REPLACE FUNCTION note_provider_results(noted jsonb) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  this_moment timestamptz := router_now();
  now_ms numeric := floor(extract(epoch FROM this_moment) * 1000);
BEGIN
  INSERT INTO provider_health AS known (provider, answered_at, results)
  SELECT each.provider, this_moment - each."answeredMs" * interval '1 millisecond', newest_results('[]', (
      SELECT coalesce(jsonb_agg(jsonb_build_object('run', run, 'at', now_ms - ms, 'result', result)), '[]')
      FROM jsonb_to_recordset(each.results) AS one (run text, ms integer, result text)
    ))
  FROM jsonb_to_recordset(noted) AS each (provider text, "answeredMs" integer, results jsonb)
  -- Two workers that note results of several providers lock the rows in the same order.
  ORDER BY each.provider
  ON CONFLICT (provider) DO UPDATE SET
    answered_at = greatest(known.answered_at, excluded.answered_at),
    results = newest_results(known.results, excluded.results);
END $$;
`;
