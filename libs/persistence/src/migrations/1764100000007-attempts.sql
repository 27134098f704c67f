-- The provider calls of a run that did not simply succeed. A run without such calls has no row.
CREATE TABLE run_attempts (
  run_id uuid PRIMARY KEY,
  -- The provider of the last attempt.
  provider text NOT NULL,
  -- The first ten and the last ten, oldest first.
  attempts jsonb NOT NULL DEFAULT '[]',
  -- The number of calls between these.
  left_out integer NOT NULL DEFAULT 0,
  noted_at timestamptz NOT NULL
);
CREATE INDEX run_attempts_provider ON run_attempts (provider, noted_at);
