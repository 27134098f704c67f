/**
 * The line in which a run waits for its provider, stored as the provider of its outbox row. Slots, pauses, wake-ups
 * and turns belong to a line. Runs with an operator's key share the provider's line, named after it. Runs with a key
 * of their workspace wait in a line of their own, `<provider>@<workspace>`, so that a rejected or throttled key delays
 * only its owner. `lineOf` in `lines.ts` does the same for workers and gateways.
 *
 * `line_of(provider, workspace, facts)` returns the line of a run, `provider_of(line)` the provider of a line.
 * `lines_of(provider)` lists all lines of a provider, which an operator's pause stops.
 */
export const lines = /* sql */ `
CREATE OR REPLACE FUNCTION line_of(provider text, workspace_id uuid, facts jsonb) RETURNS text LANGUAGE sql IMMUTABLE
RETURN CASE WHEN facts ? 'ownKey' THEN provider || '@' || workspace_id ELSE provider END;

CREATE OR REPLACE FUNCTION provider_of(line text) RETURNS text LANGUAGE sql IMMUTABLE
RETURN split_part(line, '@', 1);

CREATE OR REPLACE FUNCTION lines_of(named text) RETURNS text[] LANGUAGE sql STABLE AS $$
  SELECT named || ARRAY(SELECT DISTINCT named || '@' || workspace_id FROM own_key WHERE provider = named)
$$;
`;
