-- Runs that operators show as samples of their model. A run that is no longer kept or no longer shared is none.
CREATE TABLE model_sample (
  run_id uuid PRIMARY KEY REFERENCES kept_run ON DELETE CASCADE,
  share_id uuid NOT NULL REFERENCES shared_run (share_id) ON DELETE CASCADE,
  model text NOT NULL,
  pinned_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX model_sample_share ON model_sample (share_id);
CREATE INDEX model_sample_model ON model_sample (model, pinned_at);
