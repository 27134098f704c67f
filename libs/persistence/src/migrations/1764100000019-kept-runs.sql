-- Runs whose input, output and files a workspace keeps without expiry. Their objects belong to the workspace, and count
-- in its limits of files.
CREATE TABLE kept_run (
  run_id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  model text NOT NULL,
  completed_at timestamptz NOT NULL,
  kept_at timestamptz NOT NULL
);
CREATE INDEX kept_run_workspace ON kept_run (workspace_id, run_id);

-- Copies of the run's payloads, because its own are dropped with their day.
CREATE TABLE kept_payload (
  run_id uuid REFERENCES kept_run ON DELETE CASCADE,
  kind text,
  media_type text NOT NULL,
  body bytea,
  stored_as text,
  PRIMARY KEY (run_id, kind)
);
