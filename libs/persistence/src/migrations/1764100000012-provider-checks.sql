-- The last check of each provider's key. A gateway or a command asks for it; a worker that has the key makes the call.
CREATE TABLE provider_check (
  provider text PRIMARY KEY,
  asked_at timestamptz NOT NULL,
  -- When a worker took it. Null until then.
  taken_at timestamptz,
  -- When the answer was written. Null until then.
  checked_at timestamptz,
  -- {result, latencyMs, httpStatus, balance, detail} of the last answer; see provider-check.repository.ts.
  answer jsonb
);

-- Replies that a provider's declaration does not expect, by kind: how many, and the newest one, redacted.
CREATE TABLE provider_surprise (
  provider text NOT NULL,
  kind text NOT NULL,
  count bigint NOT NULL,
  first_at timestamptz NOT NULL,
  last_at timestamptz NOT NULL,
  run_id uuid NOT NULL,
  detail text NOT NULL,
  http_status integer,
  reply text,
  PRIMARY KEY (provider, kind)
);
