-- How many of a workspace's granted runs are not dispatched, when they were counted, and how many were granted since.
ALTER TABLE workspace
  ADD COLUMN undispatched integer NOT NULL DEFAULT 0,
  ADD COLUMN undispatched_counted_at timestamptz NOT NULL DEFAULT '1970-01-01 00:00:00+00';
