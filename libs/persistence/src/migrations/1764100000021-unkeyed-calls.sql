-- Calls of vendors' clients without an idempotency key whose result has not been delivered. An equal call joins the run
-- once the connection of the first one is gone.
CREATE TABLE unkeyed_call (
  run_id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  fingerprint bytea NOT NULL,
  -- The gateway process that holds the caller's connection; null once the connection is gone.
  held_by text
);
CREATE INDEX unkeyed_call_fingerprint ON unkeyed_call (workspace_id, fingerprint);
ALTER TYPE admission ADD ATTRIBUTE "heldBy" text;
