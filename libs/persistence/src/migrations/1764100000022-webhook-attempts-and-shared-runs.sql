-- The newest calls of each webhook with the receiver's answers, and the body that was sent if it holds no output.
ALTER TABLE webhook ADD COLUMN attempts jsonb NOT NULL DEFAULT '[]';
ALTER TABLE webhook ADD COLUMN payload text;

-- Runs that anyone who has their link may see. The link is signed over share_id, so the table does not contain it.
CREATE TABLE shared_run (
  run_id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  model text NOT NULL,
  share_id uuid NOT NULL,
  shared_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX shared_run_share ON shared_run (share_id);
CREATE INDEX shared_run_workspace ON shared_run (workspace_id, run_id);
