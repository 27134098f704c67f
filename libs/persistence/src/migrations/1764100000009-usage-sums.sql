-- The audit records of closed hours, added up by hour and by day. usage_progress says up to which hour.
CREATE TABLE usage_sum (
  workspace_id uuid NOT NULL,
  unit text NOT NULL CHECK (unit IN ('hour', 'day')),
  -- The start of the hour or day, in UTC.
  at timestamptz NOT NULL,
  model text NOT NULL,
  -- 'key:<id>', or 'token' for all access tokens.
  credential text NOT NULL,
  runs bigint NOT NULL,
  succeeded bigint NOT NULL,
  billed_micros bigint NOT NULL,
  PRIMARY KEY (workspace_id, unit, at, model, credential)
);
CREATE INDEX usage_sum_age ON usage_sum USING brin (at) WITH (pages_per_range = 16);
CREATE TABLE usage_progress (
  workspace_id uuid PRIMARY KEY,
  until timestamptz NOT NULL
);
