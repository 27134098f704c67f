-- How long results of the workspace are kept, in seconds, if shorter than those of all workspaces. Null for no own period.
ALTER TABLE workspace ADD COLUMN result_retention_seconds integer;
-- The last ended run of a workspace with a period of its own whose data was deleted because of it. Later runs are not yet due.
CREATE TABLE workspace_erasure (
  workspace_id uuid PRIMARY KEY,
  completed_at timestamptz NOT NULL,
  run_id uuid NOT NULL
);
