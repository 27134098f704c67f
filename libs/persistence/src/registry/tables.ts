import { including } from './indexes.js';

/** What an operator ruled comes before what the record says; a record that takes its node back wins over both. */
const listedStatus = `CASE WHEN status = 'NodeStatusDeleted' THEN status ELSE coalesce(ruled_status, status) END`;
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
  ruled_status text CHECK (ruled_status IN ('PublisherStatusActive', 'PublisherStatusBanned')),
  listed_status text GENERATED ALWAYS AS (coalesce(ruled_status, status)) STORED
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

-- What filters tell apart, and how many nodes are listed of each kind: few rows, on which a filter decides once. On
-- nodes it is then a comparison of numbers, and the total of a page is a sum.
CREATE TABLE node_kind (
  kind bigint PRIMARY KEY,
  supported_os text[] NOT NULL,
  supported_accelerators text[] NOT NULL,
  supported_app_version text,
  status text COLLATE "C" NOT NULL,
  banned boolean NOT NULL,
  nodes bigint NOT NULL
);

-- Another value whenever nodes have been written: until then, what was found of all nodes holds.
CREATE TABLE registry_revision (
  id boolean PRIMARY KEY DEFAULT true CHECK (id),
  revision uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO registry_revision DEFAULT VALUES;

CREATE TABLE node (
  id text COLLATE "C" NOT NULL,
  -- What is filtered and sorted by comes first: a row that is only looked at for these need not be read further.
  created_at timestamptz(3) NOT NULL,
  updated_at timestamptz(3) NOT NULL,
  publisher_banned boolean NOT NULL,
  banned boolean GENERATED ALWAYS AS (${banned}) STORED,
  listed_status text COLLATE "C" GENERATED ALWAYS AS (${listedStatus}) STORED,
  -- A hash of what the filters ask, since no generated column may be made of another one. A deleted node has none.
  kind bigint GENERATED ALWAYS AS (CASE WHEN status <> 'NodeStatusDeleted' THEN hash_array_extended(ARRAY[
    hash_array_extended(coalesce(supported_os, '{}'), 0),
    hash_array_extended(coalesce(supported_accelerators, '{}'), 0),
    hash_array_extended(ARRAY[supported_app_version], 0),
    hashtextextended(${listedStatus}, 0),
    (${banned})::integer
  ], 0) END) STORED,
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
  publisher_id text COLLATE "C",
  status text COLLATE "C" NOT NULL CHECK (status IN ('NodeStatusActive', 'NodeStatusDeleted', 'NodeStatusBanned')),
  status_detail text,
  preempted_app_node_names text[],
  supported_accelerators text[],
  supported_os text[],
  supported_app_version text,
  supported_app_frontend_version text,
  translations jsonb,
  -- What an operator decided here; it outlives every import.
  ruled_status text COLLATE "C" CHECK (ruled_status IN ('NodeStatusActive', 'NodeStatusBanned')),
  ruled_detail text,
  ruled_tags text[],
  PRIMARY KEY (id) ${including('id')}
);

CREATE TABLE node_version (
  node_id text COLLATE "C" NOT NULL,
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
