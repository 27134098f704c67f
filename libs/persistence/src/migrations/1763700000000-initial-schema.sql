
CREATE FUNCTION router_now() RETURNS timestamptz LANGUAGE sql VOLATILE PARALLEL SAFE
RETURN clock_timestamp() + coalesce(nullif(current_setting('router.clock_offset', true), '')::interval, '0');

CREATE FUNCTION router_statement_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN statement_timestamp() + coalesce(nullif(current_setting('router.clock_offset', true), '')::interval, '0');


CREATE FUNCTION new_webhook_secret() RETURNS text LANGUAGE sql VOLATILE
RETURN 'whsec_' || encode(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), 'base64');


CREATE DOMAIN quantity AS integer CHECK (VALUE >= 0);
CREATE DOMAIN micros AS bigint CHECK (VALUE >= 0);
CREATE DOMAIN byte_count AS bigint CHECK (VALUE >= 0);
CREATE DOMAIN price_factor AS numeric CHECK (VALUE BETWEEN 0 AND 100);
CREATE DOMAIN run_mode AS text CHECK (VALUE IN ('queued', 'sync'));
CREATE DOMAIN run_stage AS text CHECK (VALUE IN ('parked', 'ready', 'submitting', 'running', 'copying', 'completed'));
CREATE DOMAIN run_outcome AS text CHECK (VALUE IN ('succeeded', 'failed', 'cancelled'));
CREATE DOMAIN run_queue AS text CHECK (VALUE IN ('backlog', 'dispatch', 'poll', 'assets'));
CREATE DOMAIN payload_kind AS text CHECK (VALUE IN ('input', 'output'));
CREATE DOMAIN billing_basis AS text CHECK (VALUE IN ('reported', 'computed', 'flat'));


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


-- The call that tells a caller's own address that its run is completed: written with the outcome, and the outbox of
-- its job until it has ended.
CREATE TABLE webhook (
  run_id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  model text NOT NULL,
  origin text NOT NULL,
  bucket text,
  completed_at timestamptz NOT NULL,
  url text NOT NULL,
  -- The origin of the URL: those of one workspace share slots.
  receiver text NOT NULL,
  form text NOT NULL CHECK (form IN ('standard', 'fal')),
  tries integer NOT NULL DEFAULT 0,
  -- How often all tries were asked for once more: what comes of a call that began before that is no try of these.
  redeliveries integer NOT NULL DEFAULT 0,
  -- It found no slot of its receiver, has no job, and is taken when one is free.
  waiting boolean NOT NULL DEFAULT false,
  -- Never, once it has ended.
  due_at timestamptz NOT NULL,
  ended_at timestamptz,
  delivered boolean NOT NULL DEFAULT false,
  -- What came of the last try that failed.
  problem text
) WITH (fillfactor = 70);
CREATE INDEX webhook_due ON webhook (due_at) WHERE ended_at IS NULL;
CREATE INDEX webhook_waiting ON webhook (workspace_id, receiver, run_id) WHERE waiting;
CREATE INDEX webhook_workspace ON webhook (workspace_id, run_id);
-- Most are delivered, and those that are not are looked for.
CREATE INDEX webhook_undelivered ON webhook (workspace_id, run_id) WHERE NOT delivered;


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


CREATE TABLE publisher (
  id text COLLATE "C" PRIMARY KEY,
  name text,
  description text,
  logo text,
  website text,
  support text,
  source_code_repo text,
  created_at timestamptz(3),
  status text NOT NULL CHECK (status IN ('PublisherStatusActive', 'PublisherStatusBanned')),
  -- What an operator decided here; it outlives every import.
  moderated_status text CHECK (moderated_status IN ('PublisherStatusActive', 'PublisherStatusBanned')),
  listed_status text GENERATED ALWAYS AS (coalesce(moderated_status, status)) STORED
);

CREATE TABLE publisher_member (
  publisher_id text COLLATE "C" NOT NULL REFERENCES publisher (id) ON DELETE CASCADE,
  place integer NOT NULL,
  id text,
  role text,
  user_id text,
  user_name text,
  user_email text,
  PRIMARY KEY (publisher_id, place)
);

-- Another value whenever nodes have been written. It is random: a counter would come back to an old number after a
-- backup is restored.
CREATE TABLE registry_revision (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  revision uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO registry_revision DEFAULT VALUES;

CREATE TABLE node (
  id text COLLATE "C" PRIMARY KEY,
  -- What is filtered and sorted by comes first: a row that is only looked at for these need not be read further.
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  publisher_banned boolean NOT NULL,
  banned boolean GENERATED ALWAYS AS (publisher_banned OR CASE WHEN status = 'NodeStatusDeleted' THEN status ELSE coalesce(moderated_status, status) END = 'NodeStatusBanned') STORED,
  listed_status text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN status = 'NodeStatusDeleted' THEN status ELSE coalesce(moderated_status, status) END) STORED,
  downloads bigint,
  github_stars bigint,
  rating double precision,
  search_ranking bigint,
  category text COLLATE "C",
  author text COLLATE "C",
  name text COLLATE "C" NOT NULL,
  description text NOT NULL,
  tags text[],
  tags_admin text[],
  icon text,
  banner_url text,
  repository text,
  license text,
  publisher_id text COLLATE "C" REFERENCES publisher (id),
  status text COLLATE "C" NOT NULL CHECK (status IN ('NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned')),
  status_detail text,
  preempted_app_node_names text[],
  supported_accelerators text[],
  supported_os text[],
  supported_app_version text,
  supported_app_frontend_version text,
  translations jsonb,
  -- What an operator decided here; it outlives every import.
  moderated_status text COLLATE "C" CHECK (moderated_status IN ('NodeStatusActive', 'NodeStatusBanned')),
  moderated_detail text,
  moderated_tags text[]
);
CREATE INDEX node_publisher ON node (publisher_id);

CREATE TABLE node_version (
  node_id text COLLATE "C" NOT NULL REFERENCES node (id) ON DELETE CASCADE,
  version text COLLATE "C" NOT NULL,
  id text,
  changelog text,
  created_at timestamptz(3) NOT NULL,
  deprecated boolean,
  dependencies text[],
  download_url text,
  status text NOT NULL CHECK (status IN ('NodeVersionStatusActive', 'NodeVersionStatusDeleted',
    'NodeVersionStatusBanned', 'NodeVersionStatusPending', 'NodeVersionStatusFlagged')),
  status_reason text,
  app_node_extract_status text,
  supported_accelerators text[],
  supported_os text[],
  supported_app_version text,
  supported_app_frontend_version text,
  tags text[],
  tags_admin text[],
  PRIMARY KEY (node_id, version)
);
CREATE INDEX node_version_newest ON node_version (node_id, created_at DESC, version DESC)
  WHERE status = 'NodeVersionStatusActive';

-- How far a mirror has come; see "admin registry mirror".
CREATE TABLE registry_mirror (
  url text PRIMARY KEY,
  -- The walk that is under way: what it asks for, its next page, and its source's clock and total at its start.
  walk_since timestamptz(3),
  next_page integer,
  started_at timestamptz(3),
  started_total bigint,
  -- The last walk that was finished: the next one asks for what came later.
  finished_at timestamptz(3),
  finished_total bigint
);


CREATE FUNCTION v7_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
  SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- False when the day has to be tried again: the tables were busy, or the default partition holds ids of that day.
CREATE FUNCTION ensure_day(day date) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '200ms' AS $$
DECLARE
  parent text;
BEGIN
  FOREACH parent IN ARRAY ARRAY['run', 'payload'] LOOP
    CONTINUE WHEN to_regclass(parent || to_char(day, '_YYYYMMDD')) IS NOT NULL;
    -- A run is written about three times in a short life: its versions find room on its own page.
    EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = %s)',
      parent || to_char(day, '_YYYYMMDD'), parent,
      v7_floor(day::timestamp AT TIME ZONE 'UTC'), v7_floor((day + 1)::timestamp AT TIME ZONE 'UTC'),
      CASE parent WHEN 'run' THEN 50 ELSE 100 END);
  END LOOP;
  RETURN true;
EXCEPTION WHEN lock_not_available OR check_violation THEN
  RETURN false;
END $$;

-- Returns how many days could not be made. Apps may run as a role that owns no table; this and drop_day are all that
-- they do as the owner.
CREATE FUNCTION ensure_partitions(days_ahead integer) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  today date := timezone('UTC', router_now())::date;
BEGIN
  IF NOT pg_try_advisory_xact_lock(727003) THEN
    RETURN 0;
  END IF;
  RETURN (SELECT count(*) FILTER (WHERE NOT ensure_day(day::date))
    FROM generate_series(today - 1, today + days_ahead, interval '1 day') AS day);
END $$;

-- A gateway whose clock is far off must still be able to admit.
CREATE TABLE run_default PARTITION OF run DEFAULT WITH (fillfactor = 50);
CREATE TABLE payload_default PARTITION OF payload DEFAULT;
SELECT ensure_partitions(7);
REVOKE EXECUTE ON FUNCTION ensure_partitions FROM PUBLIC;


-- 'kept' while the result can be collected, 'aged_out' while it is remembered, then 'gone'.
CREATE FUNCTION age_of(completed_at timestamptz, kept_s double precision, remembered_s double precision)
RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT CASE
    WHEN completed_at IS NULL OR completed_at > router_now() - make_interval(secs => kept_s) THEN 'kept'
    WHEN completed_at > router_now() - make_interval(secs => kept_s + remembered_s) THEN 'aged_out'
    ELSE 'gone'
  END
$$;

-- Replaces a batch of runs that completed longer ago than that by their tombstones, oldest ids first; answers
-- how many. A batch ends at its number of runs or bytes, whichever comes first, so that no call takes long.
CREATE FUNCTION age_out(kept_s double precision, batch_rows integer, batch_bytes bigint)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  cutoff timestamptz := router_now() - make_interval(secs => kept_s);
  aged uuid[];
BEGIN
  IF NOT pg_try_advisory_xact_lock(727004) THEN
    RETURN 0;
  END IF;
  SELECT coalesce(array_agg(id), '{}') INTO aged FROM (
    SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS bytes_before FROM (
      SELECT id, coalesce((SELECT sum(octet_length(body)) FROM payload WHERE run_id = id), 0) AS bytes FROM (
        -- No run completes before its id was made, so the ids bound the search.
        (SELECT id FROM run WHERE id < v7_floor(cutoff) AND completed_at <= cutoff ORDER BY id LIMIT batch_rows)
        UNION
        -- Except by the clock of a gateway that is far ahead.
        (SELECT id FROM run_default WHERE completed_at <= cutoff LIMIT batch_rows)
      ) AS oldest
    ) AS measured
  ) AS summed WHERE bytes_before < batch_bytes;
  UPDATE stored_object SET delete_at = greatest(router_now(), link_expires_at) WHERE owner_id = ANY (aged);
  DELETE FROM payload WHERE run_id = ANY (aged);
  WITH gone AS (DELETE FROM run WHERE id = ANY (aged) RETURNING *)
  INSERT INTO tombstone (run_id, workspace_id, model, completed_at, origin, admitted_position)
  SELECT id, workspace_id, model, completed_at,
    CASE WHEN call ? 'idempotencyKey' THEN call ->> 'origin' END,
    CASE WHEN call ? 'idempotencyKey' THEN admitted_position END
  FROM gone;
  RETURN cardinality(aged);
END $$;

-- By the index: a first look marks the entries of deleted rows there, so that a second one, which is made while
-- everybody waits, passes over them without reading the table.
CREATE FUNCTION day_is_empty(day date) RETURNS boolean LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  parent text;
  occupied boolean;
BEGIN
  FOREACH parent IN ARRAY ARRAY['run', 'payload'] LOOP
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I)', parent || to_char(day, '_YYYYMMDD')) INTO occupied;
    IF occupied THEN
      RETURN false;
    END IF;
  END LOOP;
  RETURN true;
END $$;

-- Drops the oldest day that has nothing left in it and answers which; null when there is none, or when the
-- tables are busy. A live run, or one whose result can be collected, keeps its day.
CREATE FUNCTION drop_day() RETURNS date LANGUAGE plpgsql
SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '200ms' AS $$
DECLARE
  day date;
BEGIN
  IF NOT pg_try_advisory_xact_lock(727003) THEN
    RETURN NULL;
  END IF;
  FOR day IN
    SELECT to_date(right(relname, 8), 'YYYYMMDD') FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'run'::regclass AND relname ~ '^run_[0-9]{8}$' ORDER BY 1
  LOOP
    -- Yesterday is kept: a gateway's clock may be behind.
    EXIT WHEN day >= timezone('UTC', router_now())::date - 1;
    CONTINUE WHEN NOT day_is_empty(day);
    LOCK TABLE ONLY run, ONLY payload IN ACCESS EXCLUSIVE MODE;
    -- Looked at again, now that nobody can add to it.
    IF NOT day_is_empty(day) THEN
      RETURN NULL;
    END IF;
    EXECUTE format('DROP TABLE %I, %I', to_char(day, '"run_"YYYYMMDD'), to_char(day, '"payload_"YYYYMMDD'));
    RETURN day;
  END LOOP;
  RETURN NULL;
EXCEPTION WHEN lock_not_available THEN
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION drop_day FROM PUBLIC;


CREATE FUNCTION need_objects(keys text[], until timestamptz DEFAULT '-infinity') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  found integer;
BEGIN
  UPDATE stored_object SET delete_at = 'infinity', link_expires_at = greatest(link_expires_at, until)
  WHERE key = ANY (keys) AND NOT deleting;
  GET DIAGNOSTICS found = ROW_COUNT;
  IF found <> cardinality(keys) THEN
    RAISE EXCEPTION 'of the stored objects % only % are there', keys, found;
  END IF;
END $$;

CREATE FUNCTION reserve_file(file_id uuid, file_key text, owner uuid, max_bytes bigint, doubt_s double precision)
RETURNS TABLE (refused text, max_allowed bigint) LANGUAGE plpgsql AS $$
DECLARE
  allowed workspace%ROWTYPE;
  files bigint;
  taken bigint;
BEGIN
  -- Not the lock of the workspace's row, which every admission waits for.
  PERFORM pg_advisory_xact_lock(727005, hashtext(owner::text));
  SELECT * INTO STRICT allowed FROM workspace WHERE id = owner;
  SELECT count(*), coalesce(sum(bytes), 0) INTO files, taken FROM stored_object
  WHERE workspace_id = owner AND NOT deleting AND delete_at > router_now();
  IF files >= allowed.file_limit THEN
    RETURN QUERY SELECT 'files', allowed.file_limit::bigint;
  ELSIF taken + max_bytes > allowed.file_bytes_limit THEN
    RETURN QUERY SELECT 'bytes', allowed.file_bytes_limit::bigint;
  ELSE
    INSERT INTO stored_object (key, owner_id, delete_at, workspace_id, bytes)
    VALUES (file_key, file_id, router_now() + make_interval(secs => doubt_s), owner, max_bytes)
    ON CONFLICT (key) DO UPDATE SET delete_at = excluded.delete_at, bytes = excluded.bytes
      WHERE stored_object.content_type IS NULL AND NOT stored_object.deleting AND stored_object.delete_at <= router_now();
    IF NOT FOUND THEN
      RETURN QUERY SELECT 'place', 1::bigint;
    END IF;
  END IF;
END $$;


CREATE FUNCTION pause_provider(paused text, calls_paused text, requester text, lasting interval, why text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  this_moment timestamptz := router_now();
  ends timestamptz := coalesce(this_moment + lasting, 'infinity');
  stood boolean;
BEGIN
  SELECT until > this_moment INTO stood FROM provider_pause
  WHERE provider = paused AND calls = calls_paused AND asked_by = requester;
  INSERT INTO provider_pause AS pause VALUES (paused, calls_paused, requester, this_moment, ends, why)
  ON CONFLICT (provider, calls, asked_by) DO UPDATE SET
    since = CASE WHEN pause.until = 'infinity' THEN pause.since ELSE excluded.since END,
    until = excluded.until, reason = excluded.reason
  WHERE pause.until <= excluded.until;
  RETURN stood IS NOT TRUE;
END $$;

CREATE FUNCTION paused_ms(paused text, calls_paused text) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT max(CASE WHEN until = 'infinity' THEN 50000
      ELSE ceil(1000 * extract(epoch FROM until - router_now() + random() / 2 * (until - since))) END)
    FROM provider_pause WHERE provider = paused AND calls = calls_paused AND until > router_now()
  );
END $$;


CREATE FUNCTION backlog_chunk_size() RETURNS integer LANGUAGE sql IMMUTABLE RETURN 250;

CREATE FUNCTION granted_ahead(space_id uuid, before_place bigint) RETURNS integer LANGUAGE sql STABLE AS $$
  SELECT count(*)::integer FROM (
    SELECT FROM outbox WHERE workspace_id = space_id AND NOT dispatched AND queue = 'dispatch' AND place < before_place
    ORDER BY place LIMIT 1000
  ) AS granted
$$;

CREATE FUNCTION chunk_of(space_id uuid, of_place bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT max(first_place) FROM backlog_chunk WHERE workspace_id = space_id AND first_place <= of_place
$$;

CREATE FUNCTION waiting_ahead(space_id uuid, before_place bigint) RETURNS integer LANGUAGE sql STABLE AS $$
  WITH chunk AS (SELECT chunk_of(space_id, before_place) AS first)
  SELECT granted_ahead(space_id, before_place)
    + (SELECT coalesce(sum(runs), 0)::integer FROM backlog_chunk, chunk WHERE workspace_id = space_id AND first_place < first)
    + (SELECT count(*)::integer FROM outbox, chunk WHERE workspace_id = space_id AND NOT dispatched AND queue = 'backlog'
        AND place >= first AND place < before_place)
$$;

CREATE FUNCTION enter_backlog(space_id uuid, from_place bigint, entered integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE backlog_chunk SET runs = runs + entered
  WHERE workspace_id = space_id AND first_place = chunk_of(space_id, from_place) AND runs < backlog_chunk_size();
  IF NOT FOUND THEN
    INSERT INTO backlog_chunk (workspace_id, first_place, runs) VALUES (space_id, from_place, entered);
  END IF;
END $$;

CREATE FUNCTION leave_backlog(space_id uuid, left_place bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  first bigint := chunk_of(space_id, left_place);
BEGIN
  DELETE FROM backlog_chunk WHERE workspace_id = space_id AND first_place = first AND runs = 1;
  IF NOT FOUND THEN
    UPDATE backlog_chunk SET runs = runs - 1 WHERE workspace_id = space_id AND first_place = first;
  END IF;
END $$;


CREATE FUNCTION promote(space_id uuid) RETURNS TABLE (run_id uuid, provider text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  space workspace%ROWTYPE;
  head outbox%ROWTYPE;
BEGIN
  SELECT * INTO space FROM workspace WHERE id = space_id FOR NO KEY UPDATE;
  WHILE space.backlog > 0 AND space.inflight < space.inflight_limit LOOP
    SELECT * INTO STRICT head FROM outbox
    WHERE workspace_id = space_id AND NOT dispatched AND queue = 'backlog' ORDER BY place LIMIT 1;
    EXIT WHEN space.committed_micros + head.reserved_micros > space.committed_limit_micros;
    UPDATE run SET stage = 'ready', granted_at = router_now() WHERE id = head.run_id;
    UPDATE outbox SET queue = 'dispatch', due_at = router_now() + interval '500 milliseconds' WHERE workspace_id = space_id AND run_id = head.run_id;
    PERFORM leave_backlog(space_id, head.place);
    space.inflight := space.inflight + 1;
    space.committed_micros := space.committed_micros + head.reserved_micros;
    space.backlog := space.backlog - 1;
    run_id := head.run_id;
    provider := head.provider;
    RETURN NEXT;
  END LOOP;
  UPDATE workspace SET inflight = space.inflight, committed_micros = space.committed_micros, backlog = space.backlog
  WHERE id = space_id AND backlog <> space.backlog;
END $$;


CREATE FUNCTION locked_workspaces(ids uuid[], waits boolean) RETURNS SETOF workspace LANGUAGE plpgsql AS $$
BEGIN
  IF waits THEN
    RETURN QUERY SELECT * FROM workspace WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
  ELSE
    RETURN QUERY SELECT * FROM workspace WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED;
  END IF;
END $$;


CREATE FUNCTION milliseconds_between(since timestamptz, until timestamptz) RETURNS float LANGUAGE sql IMMUTABLE
RETURN greatest(0, extract(epoch FROM until - since) * 1000)::float;

CREATE FUNCTION finish_all(space_ids uuid[], runs jsonb, bodies bytea, waits boolean) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  results jsonb[] := array_fill(NULL::jsonb, ARRAY[cardinality(space_ids)]);
  space workspace%ROWTYPE;
  nth integer;
  entry jsonb;
  ending jsonb;
  output bytea;
  done run%ROWTYPE;
  gone outbox%ROWTYPE;
  billed bigint;
  basis text;
  granted jsonb;
  last_won integer;
BEGIN
  FOR space IN SELECT * FROM locked_workspaces(space_ids, waits) LOOP
    last_won := NULL;
    FOREACH nth IN ARRAY array_positions(space_ids, space.id) LOOP
      entry := runs -> (nth - 1);
      ending := entry -> 'ending';
      output := substr(bodies, (entry -> 'bodyFrom')::integer, (entry -> 'bodyBytes')::integer);
      UPDATE run SET stage = 'completed', completed_at = router_now(), lease_until = NULL,
        outcome = ending ->> 'outcome', bucket = ending ->> 'bucket', status = (ending ->> 'status')::integer,
        failure = ending -> 'failure', provider_urls = coalesce((ending ->> 'providerUrls')::boolean, false),
        (reported_micros, billed_micros) = (
          SELECT reported, CASE WHEN (ending ->> 'billable')::boolean
            THEN least(reserved_micros, coalesce(ceil(reported * markup), computed_micros)) ELSE 0 END
          FROM (SELECT coalesce((ending ->> 'reportedMicros')::bigint, reported_micros) AS reported) AS reply
        )
      WHERE id = (entry ->> 'runId')::uuid AND epoch = (entry ->> 'epoch')::integer AND stage <> 'completed'
      RETURNING * INTO done;
      IF NOT FOUND THEN
        results[nth] := jsonb_build_object('won', false, 'granted', '[]'::jsonb);
        CONTINUE;
      END IF;
      last_won := nth;
      billed := done.billed_micros;
      basis := CASE WHEN (ending ->> 'billable')::boolean
        THEN CASE WHEN done.reported_micros IS NULL THEN done.facts ->> 'basis' ELSE 'reported' END END;

      IF done.outcome = 'succeeded' THEN
        IF done.output_at IS NULL THEN
          INSERT INTO payload (run_id, kind, media_type, body, stored_as)
          VALUES (done.id, 'output', ending ->> 'mediaType', output, ending ->> 'storedAs');
        ELSE
          -- What was kept while assets were copied is replaced; an object of the store that it lay in can go.
          UPDATE stored_object SET delete_at = router_now()
          FROM payload WHERE payload.run_id = done.id AND kind = 'output' AND key = stored_as;
          UPDATE payload SET body = output, stored_as = ending ->> 'storedAs' WHERE run_id = done.id AND kind = 'output';
        END IF;
        IF ending ? 'storedAs' THEN
          PERFORM need_objects(ARRAY[ending ->> 'storedAs']);
        END IF;
        IF ending ? 'assets' THEN
          PERFORM need_objects(ARRAY(SELECT jsonb_array_elements_text(ending -> 'assets')), (ending ->> 'linkExpiresAt')::timestamptz);
        END IF;
      END IF;
      DELETE FROM outbox WHERE workspace_id = space.id AND run_id = done.id RETURNING * INTO STRICT gone;
      space.held_micros := space.held_micros - done.reserved_micros;
      space.balance_micros := space.balance_micros - billed;
      IF gone.queue = 'backlog' THEN
        space.backlog := space.backlog - 1;
        PERFORM leave_backlog(space.id, gone.place);
      ELSE
        space.inflight := space.inflight - 1;
        space.committed_micros := space.committed_micros - done.reserved_micros;
      END IF;
      IF billed > 0 THEN
        INSERT INTO ledger_entry (workspace_id, run_id, amount_micros, balance_micros, basis, note)
        VALUES (space.id, done.id, -billed, space.balance_micros, basis,
          done.model || coalesce(' by ' || (done.facts ->> 'server'), ''));
      END IF;
      INSERT INTO audit_record (run_id, workspace_id, request_id, credential, model, provider, route, outcome, bucket, status,
        caller_left, admitted_at, granted_at, dispatched_at, output_at, completed_at, cost_micros, billed_micros, basis)
      VALUES (done.id, space.id, (done.call ->> 'requestId')::uuid, done.credential, done.model, done.provider,
        done.call ->> 'route', done.outcome, done.bucket, done.status, done.caller_left_at IS NOT NULL, done.admitted_at,
        done.granted_at, done.dispatched_at, done.output_at, done.completed_at, done.reserved_micros, billed, basis);
      -- Nothing is with the partner, or the caller is told to try again: the same key may start another run.
      IF done.sent_at IS NULL OR done.bucket = 'service_unavailable' THEN
        DELETE FROM idempotency_key WHERE workspace_id = space.id
          AND key = done.call ->> 'idempotencyKey' AND run_id = done.id;
      END IF;
      granted := '[]';
      IF done.call ? 'webhook' THEN
        -- As with a run: enqueued at once, and by the reconciler only when that could not be.
        INSERT INTO webhook (run_id, workspace_id, model, origin, bucket, completed_at, url, receiver, form, due_at)
        VALUES (done.id, space.id, done.model, done.call ->> 'origin', done.bucket, done.completed_at,
          done.call -> 'webhook' ->> 'url', done.call -> 'webhook' ->> 'receiver', done.call -> 'webhook' ->> 'form',
          router_now() + interval '500 milliseconds');
        granted := granted || jsonb_build_object('runId', done.id, 'provider', done.provider, 'queue', 'webhooks');
      END IF;
      results[nth] := jsonb_build_object('won', true, 'granted', granted, 'record', jsonb_build_object(
        'workspaceId', space.id, 'provider', done.provider, 'model', done.model, 'delivery', done.mode,
        'outcome', done.outcome, 'bucket', done.bucket, 'billedMicros', billed, 'server', done.facts ->> 'server', 'basis', basis,
        'reservedMicros', done.reserved_micros, 'reportedMicros', ceil(done.reported_micros * done.markup), 'traceparent', done.facts ->> 'traceparent',
        'phasesMs', jsonb_strip_nulls(jsonb_build_object(
          'queue', milliseconds_between(done.admitted_at, coalesce(done.granted_at, done.completed_at)),
          'dispatch', milliseconds_between(done.granted_at, coalesce(done.dispatched_at, done.completed_at)),
          'provider', milliseconds_between(done.dispatched_at, coalesce(done.output_at, done.completed_at)),
          'assets', milliseconds_between(done.output_at, done.completed_at)))));
    END LOOP;

    -- Once for all of them, since each update of the row would be a version of it; parked runs are looked for after it.
    IF last_won IS NOT NULL THEN
      UPDATE workspace SET held_micros = space.held_micros, balance_micros = space.balance_micros,
        inflight = space.inflight, committed_micros = space.committed_micros, backlog = space.backlog
      WHERE id = space.id;
      IF space.backlog > 0 THEN
        SELECT coalesce(jsonb_agg(jsonb_build_object('runId', run_id, 'provider', provider)), '[]') INTO granted
        FROM promote(space.id);
        results[last_won] := jsonb_set(results[last_won], '{granted}', granted || (results[last_won] -> 'granted'));
      END IF;
    END IF;
  END LOOP;
  RETURN to_jsonb(results);
END $$;

CREATE FUNCTION finish(space_id uuid, finished_id uuid, claimed_epoch integer, ending jsonb) RETURNS jsonb LANGUAGE sql
RETURN finish_all(ARRAY[space_id], jsonb_build_array(jsonb_build_object('runId', finished_id, 'epoch', claimed_epoch, 'ending', ending)),
  NULL, true) -> 0;


CREATE TYPE admission AS ("runId" uuid, model text, provider text, mode text, facts jsonb, "reservedMicros" bigint,
  "computedMicros" bigint, credential text, call jsonb, key text, fingerprint text, "storedAs" text,
  "bodyFrom" integer, "bodyBytes" integer);

CREATE FUNCTION admit(space_ids uuid[], runs jsonb, bodies bytea, waits boolean) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  results jsonb[] := array_fill(NULL::jsonb, ARRAY[cardinality(space_ids)]);
  locked workspace[];
  -- With what is admitted into them.
  spaces workspace[] := '{}';
  space workspace%ROWTYPE;
  this_moment timestamptz;
  this_window timestamptz;
  nth integer;
  entry admission;
  holder idempotency_key%ROWTYPE;
  cost bigint;
  refusal text;
  fits boolean;
  ahead integer;
  parked integer;
  first_parked bigint;
  -- Of the entries that are admitted, by their places.
  costs bigint[] := '{}';
  places bigint[] := '{}';
BEGIN
  locked := ARRAY(SELECT each FROM locked_workspaces(space_ids, waits) AS each);
  -- One instant for the window and for the rows: a run that counts in one minute is not dated in the next.
  this_moment := router_now();
  this_window := date_trunc('minute', this_moment);
  FOREACH space IN ARRAY locked LOOP
    IF space.window_started_at < this_window THEN
      space.window_started_at := this_window;
      space.window_count := 0;
    END IF;
    ahead := NULL;
    parked := 0;
    first_parked := NULL;
    <<each_run>>
    FOREACH nth IN ARRAY array_positions(space_ids, space.id) LOOP
      entry := jsonb_populate_record(NULL::admission, runs -> (nth - 1));
      WHILE entry.key IS NOT NULL LOOP
        INSERT INTO idempotency_key (workspace_id, key, fingerprint, run_id, expires_at)
        VALUES (space.id, entry.key, decode(entry.fingerprint, 'hex'), entry."runId", router_now() + interval '24 hours')
        ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
        SELECT * INTO holder FROM idempotency_key WHERE workspace_id = space.id AND key = entry.key;
        CONTINUE WHEN NOT FOUND;
        IF holder.expires_at <= router_now() THEN
          DELETE FROM idempotency_key WHERE workspace_id = space.id AND key = holder.key AND run_id = holder.run_id;
        ELSE
          results[nth] := jsonb_build_object('kind', 'existing', 'runId', holder.run_id,
            'delivered', holder.deliveries > 0, 'matches', holder.fingerprint = decode(entry.fingerprint, 'hex'));
          CONTINUE each_run;
        END IF;
      END LOOP;

      cost := ceil(entry."reservedMicros" * space.markup);
      fits := space.inflight < space.inflight_limit
        AND space.committed_micros + cost <= space.committed_limit_micros;
      refusal := CASE
        WHEN cost > space.committed_limit_micros THEN 'ceiling'
        WHEN space.balance_micros - space.held_micros < cost THEN 'credits'
        WHEN space.window_count >= space.window_limit THEN 'window'
        WHEN entry.mode = 'sync' AND space.inflight >= space.inflight_limit THEN 'inflight'
        WHEN entry.mode = 'sync' AND NOT fits THEN 'spend'
        WHEN entry.mode = 'queued' AND (space.backlog > 0 OR NOT fits)
          AND space.backlog >= space.backlog_limit THEN 'backlog'
      END;
      IF refusal IS NOT NULL THEN
        DELETE FROM idempotency_key
        WHERE workspace_id = space.id AND key = entry.key AND run_id = entry."runId";
        results[nth] := jsonb_build_object('kind', 'refused', 'limit', refusal,
          'inflight', space.inflight, 'inflightLimit', space.inflight_limit,
          'committedMicros', space.committed_micros, 'committedLimitMicros', space.committed_limit_micros,
          'backlogLimit', space.backlog_limit, 'windowLimit', space.window_limit);
        CONTINUE;
      END IF;

      fits := fits AND (entry.mode = 'sync' OR space.backlog = 0);
      ahead := coalesce(ahead, space.backlog
        + CASE WHEN space.inflight = 0 THEN 0 ELSE granted_ahead(space.id, 9223372036854775807) END);
      IF entry."storedAs" IS NOT NULL THEN
        PERFORM need_objects(ARRAY[entry."storedAs"]);
      END IF;
      costs[nth] := cost;
      places[nth] := nextval('admission_order');
      space.held_micros := space.held_micros + cost;
      space.window_count := space.window_count + 1;
      IF fits THEN
        space.inflight := space.inflight + 1;
        space.committed_micros := space.committed_micros + cost;
      ELSE
        space.backlog := space.backlog + 1;
        first_parked := coalesce(first_parked, places[nth]);
        parked := parked + 1;
      END IF;
      results[nth] := jsonb_build_object('kind', 'admitted', 'runId', entry."runId", 'ready', fits, 'position', ahead);
      ahead := ahead + 1;
    END LOOP;
    IF parked > 0 THEN
      PERFORM enter_backlog(space.id, first_parked, parked);
    END IF;
    spaces := spaces || space;
  END LOOP;

  -- One statement writes all of them: to begin one takes longer than to write a row.
  WITH admitted AS MATERIALIZED (
    SELECT each.*, id AS space_id, markup, (results[ordinality] -> 'ready')::boolean AS ready
    FROM jsonb_populate_recordset(NULL::admission, runs) WITH ORDINALITY AS each
    JOIN unnest(spaces) ON id = space_ids[ordinality]
    WHERE costs[ordinality] IS NOT NULL
  ), inserted AS (
    INSERT INTO run (id, workspace_id, model, provider, mode, stage, facts, reserved_micros, computed_micros, markup,
      credential, call, admitted_position, admitted_at, granted_at)
    SELECT "runId", space_id, model, provider, mode, CASE WHEN ready THEN 'ready' ELSE 'parked' END, facts, costs[ordinality],
      ceil("computedMicros" * markup), markup, credential, call, (results[ordinality] -> 'position')::integer,
      this_moment, CASE WHEN ready THEN this_moment END
    FROM admitted
  ), inputs AS (
    INSERT INTO payload (run_id, kind, media_type, body, stored_as)
    SELECT "runId", 'input', 'application/json', substr(bodies, "bodyFrom", "bodyBytes"), "storedAs" FROM admitted
  ), counted AS (
    UPDATE workspace SET inflight = counted.inflight, committed_micros = counted.committed_micros,
      held_micros = counted.held_micros, backlog = counted.backlog,
      window_started_at = counted.window_started_at, window_count = counted.window_count
    FROM unnest(spaces) AS counted WHERE workspace.id = counted.id
  )
  -- The gateway enqueues at once; the reconciler, a second later at most, only when it could not.
  INSERT INTO outbox (run_id, workspace_id, provider, queue, place, reserved_micros, due_at)
  SELECT "runId", space_id, provider, CASE WHEN ready THEN 'dispatch' ELSE 'backlog' END, places[ordinality], costs[ordinality],
    CASE WHEN ready THEN router_now() + interval '500 milliseconds' ELSE 'infinity' END
  FROM admitted;
  RETURN to_jsonb(results);
END $$;


-- Negative when it is over; a run may be found after a month, whose milliseconds are more than an integer holds.
CREATE FUNCTION milliseconds_left(deadline timestamptz) RETURNS integer LANGUAGE sql STABLE
RETURN greatest(-1, extract(epoch FROM deadline - router_now()) * 1000)::integer;

CREATE FUNCTION claim(claimed_id uuid, lease interval, waits boolean)
RETURNS TABLE (kind text, epoch integer, workspace_id uuid, provider text, model text, facts jsonb, crashes integer, left_ms integer,
  body bytea, stored_as text, free_in_ms integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  mine run%ROWTYPE;
  paused integer;
  this_moment timestamptz;
BEGIN
  IF waits THEN
    SELECT * INTO mine FROM run WHERE id = claimed_id FOR UPDATE;
  ELSE
    SELECT * INTO mine FROM run WHERE id = claimed_id FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN;
    END IF;
  END IF;
  IF NOT FOUND OR mine.stage NOT IN ('ready', 'submitting') THEN
    kind := 'gone';
    RETURN NEXT;
    RETURN;
  ELSIF mine.lease_until > router_now() THEN
    kind := 'held';
    free_in_ms := ceil(extract(epoch FROM mine.lease_until - router_now()) * 1000);
    RETURN NEXT;
    RETURN;
  END IF;
  paused := CASE WHEN mine.sent_at IS NULL THEN paused_ms(mine.provider, 'submit') END;
  IF paused IS NOT NULL THEN
    this_moment := router_now();
    IF mine.dispatched_at IS NULL AND EXISTS (
      SELECT 1 FROM provider_pause AS pause
      WHERE pause.provider = mine.provider AND pause.calls = 'submit' AND pause.asked_by = 'operator'
    ) THEN
      mine.deadline_at := NULL;
    ELSE
      mine.deadline_at := coalesce(mine.deadline_at, this_moment + (mine.facts ->> 'budgetMs')::bigint * interval '1 millisecond');
    END IF;
    IF mine.deadline_at IS NULL OR mine.deadline_at > this_moment THEN
      UPDATE run SET deadline_at = mine.deadline_at WHERE id = claimed_id AND deadline_at IS DISTINCT FROM mine.deadline_at;
      kind := 'held';
      free_in_ms := least(paused, ceil(extract(epoch FROM mine.deadline_at - this_moment) * 1000));
      -- The end of an operator's pause makes the row due at once.
      UPDATE outbox SET due_at = this_moment + (free_in_ms + 10000) * interval '1 millisecond'
      WHERE outbox.workspace_id = mine.workspace_id AND run_id = claimed_id;
      RETURN NEXT;
      RETURN;
    END IF;
  END IF;
  UPDATE run SET epoch = epoch + 1, lease_until = router_now() + lease,
    crashes = crashes + CASE WHEN lease_until IS NULL THEN 0 ELSE 1 END
  WHERE id = claimed_id RETURNING * INTO mine;
  RETURN QUERY SELECT CASE WHEN mine.sent_at IS NULL THEN 'claimed' ELSE 'abandoned' END, mine.epoch, mine.workspace_id,
    mine.provider, mine.model, mine.facts, mine.crashes,
    CASE WHEN mine.dispatched_at IS NOT NULL OR paused IS NOT NULL
      THEN milliseconds_left(mine.deadline_at) END,
    input.body, input.stored_as, 0
  FROM payload AS input WHERE input.run_id = mine.id AND input.kind = 'input';
END $$;

-- Write-ahead of a submission under a claim, whose lease is renewed: whether the claim still stood. Null for a row that is
-- locked when it does not wait.
CREATE FUNCTION begin_submission(begun_id uuid, claimed_epoch integer, lease interval, waits boolean)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  this_moment timestamptz := router_now();
  space_id uuid;
BEGIN
  IF NOT waits THEN
    PERFORM FROM run WHERE id = begun_id FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
  END IF;
  UPDATE run SET stage = 'submitting', sent_at = this_moment, dispatched_at = coalesce(dispatched_at, this_moment),
    deadline_at = CASE WHEN dispatched_at IS NULL
      THEN this_moment + (facts ->> 'budgetMs')::bigint * interval '1 millisecond' ELSE deadline_at END,
    lease_until = this_moment + lease
  WHERE id = begun_id AND epoch = claimed_epoch AND stage IN ('ready', 'submitting') AND sent_at IS NULL
  RETURNING workspace_id INTO space_id;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE outbox SET dispatched = true, waiting = false, due_at = this_moment + lease
  WHERE workspace_id = space_id AND run_id = begun_id;
  RETURN FOUND;
END $$;


CREATE FUNCTION keep_output(kept_id uuid, claimed_epoch integer, media text, body bytea, stored text,
  reported bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  space_id uuid;
BEGIN
  UPDATE run SET stage = 'copying', output_at = router_now(), lease_until = NULL,
    reported_micros = coalesce(reported, reported_micros)
  WHERE id = kept_id AND epoch = claimed_epoch AND stage IN ('submitting', 'running') RETURNING workspace_id INTO space_id;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  INSERT INTO payload (run_id, kind, media_type, body, stored_as) VALUES (kept_id, 'output', media, body, stored);
  IF stored IS NOT NULL THEN
    PERFORM need_objects(ARRAY[stored]);
  END IF;
  UPDATE outbox SET queue = 'assets', due_at = router_now() + interval '2 seconds' WHERE workspace_id = space_id AND run_id = kept_id;
  RETURN true;
END $$;


CREATE FUNCTION request_cancel(space_id uuid, model_id text, requested_id uuid, ending jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  found_run run%ROWTYPE;
  finished jsonb;
BEGIN
  PERFORM 1 FROM workspace WHERE id = space_id FOR NO KEY UPDATE;
  SELECT * INTO found_run FROM run WHERE id = requested_id AND workspace_id = space_id AND model = model_id FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NULL;
  ELSIF found_run.stage = 'completed' THEN
    RETURN jsonb_build_object('found', 'completed', 'granted', '[]'::jsonb);
  ELSIF found_run.sent_at IS NULL THEN
    finished := finish(space_id, found_run.id, found_run.epoch, ending);
    RETURN jsonb_build_object('found', 'waiting', 'granted', finished -> 'granted', 'record', finished -> 'record');
  END IF;
  UPDATE run SET cancel_requested_at = router_now() WHERE id = found_run.id AND cancel_requested_at IS NULL;
  RETURN jsonb_build_object('found', 'dispatched', 'isRepeated', NOT FOUND, 'granted', '[]'::jsonb);
END $$;


CREATE FUNCTION release_held_run(held_id uuid, disconnected boolean, ending jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  held run%ROWTYPE;
  space_id uuid;
  finished jsonb;
BEGIN
  SELECT workspace_id INTO STRICT space_id FROM run WHERE id = held_id;
  PERFORM 1 FROM workspace WHERE id = space_id FOR NO KEY UPDATE;
  SELECT * INTO STRICT held FROM run WHERE id = held_id FOR UPDATE;
  IF held.stage = 'completed' THEN
    RETURN jsonb_build_object('found', 'completed', 'granted', '[]'::jsonb);
  END IF;
  IF disconnected THEN
    UPDATE run SET caller_left_at = coalesce(caller_left_at, router_now()) WHERE id = held_id;
  END IF;
  IF held.sent_at IS NULL AND held.call ->> 'idempotencyKey' IS NULL THEN
    finished := finish(space_id, held.id, held.epoch, ending);
    RETURN jsonb_build_object('found', 'withdrawn', 'granted', finished -> 'granted', 'record', finished -> 'record');
  END IF;
  RETURN jsonb_build_object('found', 'going_on', 'granted', '[]'::jsonb,
    'pollAfterMs', CASE WHEN held.handle IS NOT NULL THEN held.poll_after_ms END);
END $$;


CREATE FUNCTION tell_credentials_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('mr_credentials', to_jsonb(OLD) ->> TG_ARGV[0]);
  RETURN NULL;
END $$;
CREATE TRIGGER api_key_changed AFTER UPDATE OR DELETE ON api_key
  FOR EACH ROW EXECUTE FUNCTION tell_credentials_changed('workspace_id');
-- Of these columns only: every admission updates the counters of its workspace.
CREATE TRIGGER workspace_changed AFTER UPDATE OF enabled, visible, runnable ON workspace
  FOR EACH ROW EXECUTE FUNCTION tell_credentials_changed('id');


-- A statement that changes no node leaves the revision as it is.
CREATE FUNCTION renew_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'TRUNCATE' THEN
    PERFORM FROM written LIMIT 1;
    IF NOT FOUND THEN RETURN NULL; END IF;
  END IF;
  UPDATE registry_revision SET revision = DEFAULT;
  RETURN NULL;
END $$;
CREATE TRIGGER revision_inserted AFTER INSERT ON node
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION renew_revision();
CREATE TRIGGER revision_updated AFTER UPDATE ON node
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION renew_revision();
CREATE TRIGGER revision_deleted AFTER DELETE ON node
  REFERENCING OLD TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION renew_revision();
CREATE TRIGGER revision_truncated AFTER TRUNCATE ON node EXECUTE FUNCTION renew_revision();

-- The ban of a publisher bans its nodes: for a reader of changes they have changed.
CREATE FUNCTION mark_nodes_of_publisher() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE node SET publisher_banned = NEW.listed_status = 'PublisherStatusBanned',
      updated_at = greatest(router_now(), created_at)
    WHERE publisher_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER publisher_status AFTER UPDATE ON publisher FOR EACH ROW
  WHEN (OLD.listed_status IS DISTINCT FROM NEW.listed_status) EXECUTE FUNCTION mark_nodes_of_publisher();


-- A worker for so many runs that wait for their submission, and one for so many generations that are being polled.
CREATE FUNCTION workers_wanted(submissions_each numeric, polled_each numeric) RETURNS numeric LANGUAGE sql STABLE
SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT count(*) FILTER (WHERE queue = 'dispatch') / submissions_each
    + count(*) FILTER (WHERE queue = 'poll') / polled_each
  FROM outbox WHERE queue <> 'backlog'
$$;

INSERT INTO typeorm_metadata (type, database, schema, "table", name, value)
   SELECT 'GENERATED_COLUMN', table_catalog, table_schema, table_name, column_name,
     regexp_replace(btrim(generation_expression, E'\n'), '\s+', ' ', 'g')
   FROM information_schema.columns WHERE is_generated = 'ALWAYS'