-- The runs that say something about their model, by model and UTC day. Added up with usage_sum, from the same audit records.
CREATE TABLE measured_runs (
  day date NOT NULL,
  model text NOT NULL,
  -- The runs that succeeded, and those that failed through the provider's fault.
  runs integer NOT NULL,
  succeeded integer NOT NULL,
  -- How many of them took up to 0.11 s, up to 0.121 s, and so on: each of the 100 limits is 10 % above the one before.
  times integer[] NOT NULL,
  -- Up to three of their workspaces, because figures are shown only if they come from that many.
  workspaces uuid[] NOT NULL,
  PRIMARY KEY (day, model)
);
