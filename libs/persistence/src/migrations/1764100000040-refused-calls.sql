-- Calls for a run that were refused before they had one. The ids are those of the calls, in the order of their time.
CREATE TABLE refused_call (
  call_id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  at timestamptz NOT NULL,
  route text NOT NULL,
  status integer NOT NULL,
  bucket text NOT NULL,
  -- As the call named it. Null if it named none.
  model text,
  detail text NOT NULL,
  -- The first fields that the model does not accept: [{"name", "type"}].
  fields jsonb NOT NULL
);
CREATE INDEX refused_call_workspace ON refused_call (workspace_id, call_id);
