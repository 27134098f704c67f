-- What runs of a workspace may cost in a period.
CREATE TABLE budget (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  name text NOT NULL,
  -- Which runs it counts: all of the 'workspace', or those with a value of 'key', 'user', 'model' or 'tag:<name>'.
  scope text NOT NULL,
  -- The value: '' of 'workspace', 'key:<id>' of 'key', a glob of 'model'. Null: each value is counted by itself.
  value text,
  -- The regular expression of the glob.
  pattern text,
  period text NOT NULL CHECK (period IN ('day', 'week', 'month', 'total')),
  time_zone text NOT NULL,
  limit_micros micros NOT NULL,
  -- Whether it refuses runs. If not, it only notifies.
  hard boolean NOT NULL,
  webhook_url text,
  -- Temporary additions to the limit: [{micros, from, until}].
  raises jsonb NOT NULL DEFAULT '[]',
  UNIQUE (workspace_id, name)
);

-- What one value of a budget has reserved and spent in one window: a day, a week or a month, or all time.
CREATE TABLE budget_window (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  budget_id uuid NOT NULL REFERENCES budget (id) ON DELETE CASCADE,
  starts_at timestamptz NOT NULL,
  value text NOT NULL,
  ends_at timestamptz NOT NULL,
  reserved_micros micros NOT NULL DEFAULT 0,
  spent_micros micros NOT NULL DEFAULT 0,
  -- The highest share of the limit, in percent, that was notified of.
  notified smallint NOT NULL DEFAULT 0,
  UNIQUE (budget_id, starts_at, value)
) WITH (fillfactor = 50);
CREATE INDEX budget_window_end ON budget_window (ends_at);

-- The number of its budgets. Without one, admissions and outcomes read no table of budgets.
ALTER TABLE workspace ADD COLUMN budgets integer NOT NULL DEFAULT 0;
-- The budget windows in which the run is counted. Null if there are none.
ALTER TABLE run ADD COLUMN budget_windows bigint[];
ALTER TABLE audit_record ADD COLUMN budget_windows bigint[];
-- Of an event that is not the end of a run: the facts of its body. Its run_id is then the id of the event.
ALTER TABLE webhook ADD COLUMN event jsonb;
