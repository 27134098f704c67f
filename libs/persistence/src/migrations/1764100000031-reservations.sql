-- A run keeps what it can cost at most beside what it reserved, if that is less: NULL if both are the same, as for every run of
-- an earlier release. `excess_micros` of a workspace is the sum of these differences over its live runs.
ALTER TABLE run ADD COLUMN bound_micros bigint, ADD COLUMN overshoot_micros bigint;
ALTER TABLE run DROP CONSTRAINT run_computed_micros_check;
ALTER TABLE run ADD CONSTRAINT run_computed_micros_check CHECK (computed_micros <= coalesce(bound_micros, reserved_micros)) NOT VALID;
ALTER TABLE outbox ADD COLUMN excess_micros bigint NOT NULL DEFAULT 0;
ALTER TABLE audit_record ADD COLUMN overshoot_micros bigint;
ALTER TYPE admission ADD ATTRIBUTE "likelyMicros" bigint;

-- Workspaces that exist keep reserving the bound.
ALTER TABLE workspace ADD COLUMN reservation text NOT NULL DEFAULT 'bound',
  ADD COLUMN overdraft_limit_micros bigint NOT NULL DEFAULT 20000000,
  ADD COLUMN excess_micros bigint NOT NULL DEFAULT 0;
ALTER TABLE workspace ADD CONSTRAINT workspace_reservation_check CHECK (reservation IN ('likely', 'bound')) NOT VALID,
  ADD CONSTRAINT workspace_overdraft_check CHECK (overdraft_limit_micros >= 0 AND excess_micros >= 0) NOT VALID;
ALTER TABLE workspace ALTER COLUMN reservation SET DEFAULT 'likely';

CREATE TABLE provider_overshoot (
  model text NOT NULL,
  price text NOT NULL,
  lift double precision NOT NULL CHECK (lift BETWEEN 1 AND 4),
  runs integer NOT NULL DEFAULT 1,
  lost_micros bigint NOT NULL,
  run_id uuid NOT NULL,
  first_at timestamptz NOT NULL DEFAULT router_now(),
  last_at timestamptz NOT NULL DEFAULT router_now(),
  PRIMARY KEY (model, price)
);
