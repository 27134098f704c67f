-- The key that submitted a run to its provider. Null for a key that stands alone.
ALTER TABLE run ADD COLUMN provider_key text;

-- The keys of providers that have several, or limits on one. Workers report them; the keys themselves are not here.
CREATE TABLE provider_key (
  provider text NOT NULL,
  name text NOT NULL,
  -- The terms that a worker reported last, and when.
  weight integer NOT NULL,
  concurrency integer,
  per_minute integer,
  reported_at timestamptz NOT NULL,
  -- While the provider asks not to be called with this key.
  submits_after timestamptz,
  polls_after timestamptz,
  -- When it left the pool, because the provider rejected it, why, and when it was last checked.
  left_at timestamptz,
  left_for text,
  checked_at timestamptz,
  -- The submissions of the last seconds, the newest first, and the second of the newest.
  submits integer[] NOT NULL DEFAULT '{}',
  submitted_at bigint NOT NULL DEFAULT 0,
  -- The runs that hold its concurrency. Those that have ended are dropped when the next one is taken.
  runs uuid[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (provider, name)
);
