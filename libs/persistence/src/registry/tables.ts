/** What an operator decided comes before what the record says; a record that takes its node back wins over both. */
const listedStatus = `CASE WHEN status = 'NodeStatusDeleted' THEN status ELSE coalesce(moderated_status, status) END`;
const banned = `publisher_banned OR ${listedStatus} = 'NodeStatusBanned'`;

/**
 * Tables of the node registry. Texts that are compared or sorted by are in the collation "C": the same order on
 * every machine. Times have milliseconds, as they are listed: a mirror sorts them as its source does.
 */
export const registryTables = /* sql */ `
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
  banned boolean GENERATED ALWAYS AS (${banned}) STORED,
  listed_status text COLLATE "C" GENERATED ALWAYS AS (${listedStatus}) STORED,
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
`;
