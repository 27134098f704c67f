-- One row for each provider that was called: when it last answered, and the last results of its runs. See provider-health.ts.
CREATE TABLE provider_health (
  provider text PRIMARY KEY,
  -- The last reply that did not reject our account. Null if there was none.
  answered_at timestamptz,
  -- [{run, at, result}], newest first; at is in milliseconds since 1970.
  results jsonb NOT NULL DEFAULT '[]'
) WITH (fillfactor = 50);

-- The names of the providers that the simulator serves to this worker. Null for a gateway and for earlier releases.
ALTER TABLE process ADD COLUMN simulated text[];

-- The simulator served the run: nothing was generated.
ALTER TABLE audit_record ADD COLUMN simulated boolean NOT NULL DEFAULT false;
