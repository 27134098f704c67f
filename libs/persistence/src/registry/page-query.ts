import type { SortKey } from './sorting.js';

/** What a node asks of its host. Empty lists and null ask for nothing. */
export interface Demands {
  supportedOs: string[];
  supportedAccelerators: string[];
  supportedAppVersion: string | null;
}

/** Which nodes, in which order, and which of them. An absent filter takes all. */
export interface PageAsk {
  ids?: readonly string[];
  changedAfter?: Date;
  withoutBanned?: boolean;
  /** Whether nodes that ask this of their host are wanted. */
  admits?: (demands: Demands) => boolean;
  sort: readonly SortKey[];
  offset: number;
  limit: number;
}

export interface Query {
  /** One with a name is prepared once a connection; any other is planned for its values each time. */
  name?: string;
  text: string;
  values: unknown[];
  /** Its answer is the same for all pages of a revision that ask it. */
  isCount?: true;
}

/** A part of a WHERE clause; what it compares with is handed to `value`, which gives its number. */
export type Condition = (value: (given: unknown) => string) => string;

/** A query whose text is made with `where`, the conditions joined, and with `value`. */
export function query(
  conditions: readonly Condition[],
  text: (where: string, value: (given: unknown) => string) => string,
): Query {
  const values: unknown[] = [];
  const value = (given: unknown): string => `$${values.push(given)}`;
  const where = conditions.map((condition) => condition(value)).join(' AND ') || 'true';
  return { text: text(where, value), values };
}

/** Filters that tell each node from the others. */
export const singleFilters = ({ ids, changedAfter }: PageAsk): Condition[] => [
  ...(ids ? [((value) => `id = ANY (${value(ids)}::text[])`) satisfies Condition] : []),
  ...(changedAfter
    ? [((value) => `updated_at > ${value(changedAfter)}::timestamptz`) satisfies Condition]
    : []),
];

/** The nodes of a page, as `node`, in the order of their ids. Each is looked up, so that no table is read as a whole. */
export const nodesQuery = (ids: readonly string[]): Query => ({
  name: 'nodes of a page',
  text: `SELECT (${listedNode}) AS node
    FROM unnest($1::text[]) WITH ORDINALITY AS page (id, place) ORDER BY place`,
  values: [ids],
});

const moment = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

// The columns have the names that the interface gives them; what has no value is null.
const latestVersion = `
  SELECT to_json(latest) FROM (
    SELECT id, node_id, version, changelog, ${moment('node_version.created_at')} AS "createdAt", deprecated,
      dependencies, download_url AS "downloadUrl", status, status_reason, app_node_extract_status,
      supported_accelerators, supported_os, supported_app_version, supported_app_frontend_version, tags, tags_admin
    FROM node_version WHERE node_id = node.id AND status = 'NodeVersionStatusActive'
    ORDER BY node_version.created_at DESC, node_version.version DESC LIMIT 1
  ) AS latest`;

const members = `
  SELECT json_agg(json_build_object('id', id, 'role', role,
      'user', CASE WHEN num_nonnulls(user_id, user_name) > 0
        THEN json_build_object('id', user_id, 'name', user_name) END) ORDER BY place)
    FROM publisher_member WHERE publisher_id = publisher.id`;

const publisher = `
  SELECT to_json(found) FROM (
    SELECT id, name, description, logo, website, support, source_code_repo, ${moment('created_at')} AS "createdAt",
      listed_status AS status, (${members}) AS members
    FROM publisher WHERE id = node.publisher_id
  ) AS found`;

const listedNode = `
  SELECT to_json(listed) FROM (
    SELECT id, name, description, author, category, tags, coalesce(ruled_tags, tags_admin) AS tags_admin,
      ${moment('node.created_at')} AS created_at, downloads, github_stars, rating, search_ranking, icon, banner_url,
      repository, license, (${latestVersion}) AS latest_version, (${publisher}) AS publisher,
      listed_status AS status, CASE WHEN ruled_status IS NULL THEN status_detail ELSE ruled_detail END AS status_detail,
      preempted_app_node_names, supported_accelerators, supported_os, supported_app_version,
      supported_app_frontend_version, translations
    FROM node WHERE id = page.id
  ) AS listed`;
