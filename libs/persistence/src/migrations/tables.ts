/** All tables but those of webhooks and of the node registry. Amounts are integer micro-dollars; times are the database's own clock. */
export const workspaceTables = /* sql */ `
CREATE TABLE workspace (
  id uuid PRIMARY KEY,
  name text NOT NULL UNIQUE,
  enabled boolean NOT NULL DEFAULT true,
  visible text[] NOT NULL DEFAULT '{**}',
  runnable text[] NOT NULL DEFAULT '{**}',
  created_at timestamptz NOT NULL DEFAULT router_now(),
  -- Allowances.
  inflight_limit quantity NOT NULL DEFAULT 5,
  committed_limit_micros micros NOT NULL DEFAULT 100000000,
  backlog_limit quantity NOT NULL DEFAULT 1000,
  window_limit quantity NOT NULL DEFAULT 600,
  file_limit quantity NOT NULL DEFAULT 1000,
  file_bytes_limit byte_count NOT NULL DEFAULT 10737418240,
  balance_micros bigint,
  -- What runs cost is multiplied by it; a run keeps the one that it was admitted with.
  markup price_factor NOT NULL DEFAULT 1,
  -- What its webhooks are signed with, the newest first: the second one for a day after the rotation.
  webhook_secrets text[] NOT NULL DEFAULT ARRAY[new_webhook_secret()],
  webhook_secret_rotated_at timestamptz,
  -- Counters: each changes only in the transaction of the run it counts.
  inflight quantity NOT NULL DEFAULT 0,
  committed_micros micros NOT NULL DEFAULT 0,
  held_micros micros NOT NULL DEFAULT 0,
  backlog quantity NOT NULL DEFAULT 0,
  window_started_at timestamptz NOT NULL DEFAULT 'epoch',
  window_count integer NOT NULL DEFAULT 0,
  -- Highest values ever reached, kept by trigger.
  inflight_peak integer NOT NULL DEFAULT 0,
  committed_peak_micros bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);

CREATE FUNCTION workspace_keep_peaks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.inflight_peak := greatest(OLD.inflight_peak, NEW.inflight);
  NEW.committed_peak_micros := greatest(OLD.committed_peak_micros, NEW.committed_micros);
  RETURN NEW;
END $$;
CREATE TRIGGER workspace_peaks BEFORE UPDATE ON workspace FOR EACH ROW
  WHEN (NEW.inflight > OLD.inflight_peak OR NEW.committed_micros > OLD.committed_peak_micros)
  EXECUTE FUNCTION workspace_keep_peaks();

CREATE TABLE api_key (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  name text NOT NULL,
  prefix text NOT NULL UNIQUE,
  hash bytea NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT router_now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  one_time boolean NOT NULL DEFAULT false
);
`;

export const runTables = /* sql */ `
CREATE TABLE run (
  id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  model text NOT NULL,
  provider text NOT NULL,
  mode run_mode NOT NULL,
  -- The model's facts as resolved at admission; later catalog changes touch no live run.
  facts jsonb NOT NULL,
  reserved_micros micros NOT NULL,
  -- Billed when no reply says what the run cost; it and the reserved amount include the mark-up.
  computed_micros bigint NOT NULL CONSTRAINT run_computed_micros_check CHECK (computed_micros <= reserved_micros),
  markup numeric NOT NULL,
  -- Who admitted the run: key:<id> or token:<subject>.
  credential text NOT NULL,
  -- The call that did: request id, route, origin, idempotency key.
  call jsonb NOT NULL,
  admitted_position integer NOT NULL,
  admitted_at timestamptz NOT NULL DEFAULT router_now(),
  -- What is written later stands behind what is not: an update logs a row from its first change on.
  stage run_stage NOT NULL,
  -- Bumped by every claim: a worker that lost its claim cannot write.
  epoch integer NOT NULL DEFAULT 0,
  -- What the last reply that says so reports as the partner's own price.
  reported_micros bigint,
  handle jsonb,
  -- Pause before the next poll when the handle was saved: what a caller is told to wait.
  poll_after_ms integer,
  lease_until timestamptz,
  -- Claims that ended without a word, as a crash does.
  crashes integer NOT NULL DEFAULT 0,
  lost_polls integer NOT NULL DEFAULT 0,
  -- What the partner's polls say of how far it is.
  progress real,
  -- Set before the submission's first byte leaves; cleared when the partner provably did not accept it.
  sent_at timestamptz,
  deadline_at timestamptz,
  cancel_requested_at timestamptz,
  cancel_sent_at timestamptz,
  -- The caller of a held call closed its connection: an attribution, not an outcome.
  caller_left_at timestamptz,
  granted_at timestamptz,
  dispatched_at timestamptz,
  -- The provider was done, and the assets of its output were copied next.
  output_at timestamptz,
  completed_at timestamptz,
  outcome run_outcome,
  bucket text,
  status integer,
  failure jsonb,
  -- The output holds asset URLs of the provider's own, whose life is not ours to promise.
  provider_urls boolean NOT NULL DEFAULT false,
  billed_micros bigint,
  CHECK ((stage = 'completed') = (outcome IS NOT NULL))
) PARTITION BY RANGE (id);
-- It has no other index: an update of a column that one is made of, or depends on, writes to all of them.

CREATE FUNCTION run_refuse_second_outcome() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'run % has its outcome; it is never written again', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$;
-- Before the update it would lock the row by a write of its own.
CREATE TRIGGER run_one_outcome AFTER UPDATE ON run FOR EACH ROW
  WHEN (OLD.stage = 'completed') EXECUTE FUNCTION run_refuse_second_outcome();

CREATE TABLE payload (
  run_id uuid NOT NULL,
  kind payload_kind NOT NULL,
  media_type text NOT NULL,
  -- Small ones lie here, large ones in the asset store under this key.
  body bytea,
  stored_as text,
  PRIMARY KEY (run_id, kind),
  CHECK (num_nonnulls(body, stored_as) = 1)
) PARTITION BY RANGE (run_id);

-- What the asset store holds. A row comes before its object and goes after it, so nothing is left behind there.
CREATE TABLE stored_object (
  key text PRIMARY KEY,
  -- The run that it belongs to, or, for a file of a caller's, the file's own id.
  owner_id uuid NOT NULL,
  -- Never, while a run needs the object; until a run does, the longest time that it may take to say so.
  delete_at timestamptz NOT NULL,
  -- A signed URL that was given out opens the object until then.
  link_expires_at timestamptz NOT NULL DEFAULT '-infinity',
  -- Its deletion has begun: no run may come to need it any more.
  deleting boolean NOT NULL DEFAULT false,
  -- Of a file only: whose it is, how long it is, or may become, and what it is once it is there.
  workspace_id uuid,
  bytes bigint,
  content_type text
);
CREATE INDEX stored_object_due ON stored_object (delete_at) WHERE delete_at < 'infinity';
CREATE INDEX stored_object_owner ON stored_object (owner_id);
CREATE INDEX stored_object_file ON stored_object (workspace_id, owner_id) WHERE workspace_id IS NOT NULL;

CREATE SEQUENCE admission_order;

-- One row a live run: the transactional outbox of its job, the reconciler's list, and the workspace's backlog.
CREATE TABLE outbox (
  workspace_id uuid NOT NULL,
  run_id uuid NOT NULL,
  provider text NOT NULL,
  queue run_queue NOT NULL,
  place bigint NOT NULL DEFAULT nextval('admission_order'),
  reserved_micros bigint NOT NULL,
  dispatched boolean NOT NULL DEFAULT false,
  -- It found no concurrency slot of its provider, has no job, and is taken when one is free.
  waiting boolean NOT NULL DEFAULT false,
  due_at timestamptz NOT NULL,
  -- The live runs of a workspace, newest first; those that ended are listed by their audit records.
  PRIMARY KEY (workspace_id, run_id)
);
CREATE INDEX outbox_due ON outbox (due_at);
CREATE INDEX outbox_undispatched ON outbox (workspace_id, queue, place) WHERE NOT dispatched;
CREATE INDEX outbox_waiting ON outbox (provider, workspace_id, place) WHERE waiting;

-- How many runs of a workspace are parked from this place on, up to the next chunk.
CREATE TABLE backlog_chunk (
  workspace_id uuid NOT NULL,
  first_place bigint NOT NULL,
  runs integer NOT NULL CHECK (runs > 0),
  PRIMARY KEY (workspace_id, first_place)
) WITH (fillfactor = 70);

CREATE TABLE idempotency_key (
  workspace_id uuid NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  run_id uuid NOT NULL,
  expires_at timestamptz NOT NULL,
  -- How many callers got the result in full, or are getting the last of it: a later call gets a replay.
  deliveries integer NOT NULL DEFAULT 0,
  -- When the last of them was noted.
  delivered_at timestamptz,
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_key_expiry ON idempotency_key (expires_at);

-- What is left of a run whose result has aged out, so that for some time its owner gets a 410.
CREATE TABLE tombstone (
  run_id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  model text NOT NULL,
  completed_at timestamptz NOT NULL,
  -- What the first answer to a key was made of: the key may live longer than the result.
  origin text,
  admitted_position integer
);
CREATE INDEX tombstone_completion ON tombstone (completed_at);
`;

export const moneyTables = /* sql */ `
CREATE TABLE ledger_entry (
  workspace_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  run_id uuid,
  at timestamptz NOT NULL DEFAULT router_now(),
  -- Negative for a billed run, positive for credits added.
  amount_micros bigint NOT NULL,
  balance_micros bigint,
  -- How the amount of a billed run was found.
  basis billing_basis,
  note text NOT NULL,
  -- Entries are read by workspace, newest first. That a run is billed once is seen to by its audit record's key.
  PRIMARY KEY (workspace_id, id)
);
-- For retention alone: entries come in the order of time, so the smallest kind of index is enough.
-- An insert changes it while its range of pages is young.
CREATE INDEX ledger_entry_age ON ledger_entry USING brin (at) WITH (pages_per_range = 16);

CREATE TABLE audit_record (
  run_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  request_id uuid NOT NULL,
  credential text NOT NULL,
  model text NOT NULL,
  -- Who served it: of a model with several servers, the last one that it was given to.
  provider text NOT NULL,
  route text NOT NULL,
  outcome text NOT NULL,
  bucket text,
  status integer NOT NULL,
  caller_left boolean NOT NULL,
  admitted_at timestamptz NOT NULL,
  granted_at timestamptz,
  dispatched_at timestamptz,
  output_at timestamptz,
  completed_at timestamptz NOT NULL,
  cost_micros bigint NOT NULL,
  billed_micros bigint NOT NULL,
  -- Null for a run that is not billed.
  basis billing_basis,
  -- Runs are listed by workspace, newest first.
  PRIMARY KEY (workspace_id, run_id)
);
CREATE INDEX audit_record_workspace ON audit_record (workspace_id, completed_at);
-- As of the ledger.
CREATE INDEX audit_record_age ON audit_record USING brin (completed_at) WITH (pages_per_range = 16);
`;

export const operationsTables = /* sql */ `
-- Until when which calls are not made to a provider, and who asked for that.
CREATE TABLE provider_pause (
  provider text NOT NULL,
  calls text NOT NULL CHECK (calls IN ('submit', 'poll')),
  asked_by text NOT NULL CHECK (asked_by IN ('operator', 'partner')),
  since timestamptz NOT NULL,
  until timestamptz NOT NULL,
  reason text NOT NULL,
  PRIMARY KEY (provider, calls, asked_by)
);

-- What each running gateway and worker says about itself, and the last workers when none runs. Gateways serve a provider
-- for which a worker has a key (providers: whether it has one, by name; slots: how many submissions to one provider it
-- makes at once); the rest is for operators to read.
CREATE TABLE process (
  id uuid PRIMARY KEY,
  app text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  catalog_revision text NOT NULL,
  catalog_problem text,
  providers jsonb,
  slots integer,
  started_at timestamptz NOT NULL DEFAULT router_now(),
  seen_at timestamptz NOT NULL DEFAULT router_now()
);

-- What operators changed, and who did: key:<id>, token:<subject>, or admin:<user>@<host> at the command line.
CREATE TABLE operator_action (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT router_now(),
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  details jsonb NOT NULL
);
`;
