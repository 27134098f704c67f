-- Whom a run is counted for: an object of the values of its dimensions, `user` and `tag:<name>`. Null if it has none.
ALTER TABLE audit_record ADD COLUMN attribution jsonb;
-- The tags that every run of the key gets, by name. Null if there are none.
ALTER TABLE api_key ADD COLUMN tags jsonb;
-- Finds the ended runs of a dimension's value, newest first. A run without an attribution has no row.
CREATE TABLE run_attribution (
  workspace_id uuid NOT NULL,
  dimension text NOT NULL,
  value text NOT NULL,
  run_id uuid NOT NULL,
  PRIMARY KEY (workspace_id, dimension, value, run_id)
);
CREATE INDEX run_attribution_run ON run_attribution (run_id);
-- The audit records of closed hours with a value of a dimension, added up like those of usage_sum and in its transaction.
CREATE TABLE usage_dimension_sum (
  workspace_id uuid NOT NULL,
  dimension text NOT NULL,
  unit text NOT NULL CHECK (unit IN ('hour', 'day')),
  -- The start of the hour or day, in UTC.
  at timestamptz NOT NULL,
  value text NOT NULL,
  model text NOT NULL,
  -- 'key:<id>', or 'token' for all access tokens.
  credential text NOT NULL,
  runs bigint NOT NULL,
  succeeded bigint NOT NULL,
  billed_micros bigint NOT NULL,
  PRIMARY KEY (workspace_id, dimension, unit, at, value, model, credential)
);
CREATE INDEX usage_dimension_sum_age ON usage_dimension_sum USING brin (at) WITH (pages_per_range = 16);
