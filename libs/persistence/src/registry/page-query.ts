import { orderBy, type SortKey } from './sorting.js';

/** Which nodes, in which order, and which of them. An absent filter takes all. */
export interface PageAsk {
  ids?: readonly string[];
  changedAfter?: Date;
  withoutBanned?: boolean;
  /** Marks of the demands that are met; one list a kind that was asked for. */
  met: Partial<Record<DemandKind, readonly string[]>>;
  sort: readonly SortKey[];
  offset: number;
  limit: number;
}

export type DemandKind = 'os' | 'accelerator' | 'app';

interface Query {
  text: string;
  values: unknown[];
}

/** How many nodes pass the filters, as `total`. */
export function countQuery(ask: PageAsk): Query {
  const values: unknown[] = [];
  return { text: `SELECT count(*)::integer AS total FROM node WHERE ${conditions(ask, values)}`, values };
}

/**
 * The nodes of a page, as `node`. The page is first cut out of one index, then each of its nodes is looked up; the
 * subqueries keep the planner from reading a small table as a whole. A page that is nearer to the end is cut from there.
 */
export function pageQuery(ask: PageAsk, total: number): Query {
  const values: unknown[] = [];
  const where = conditions(ask, values);
  const end = Math.min(ask.offset + ask.limit, total);
  const fromEnd = total - end < ask.offset;
  values.push(end - ask.offset, fromEnd ? total - end : ask.offset);
  const text = `
    WITH page AS (
      SELECT id, row_number() OVER () AS place FROM (
        SELECT id FROM node WHERE ${where} ORDER BY ${orderBy(ask.sort, fromEnd)}
        LIMIT $${values.length - 1} OFFSET $${values.length}
      ) AS cut
    )
    SELECT (${listedNode}) AS node FROM page ORDER BY place ${fromEnd ? 'DESC' : ''}`;
  return { text, values };
}

/** What is asked of a node; the values are added to `values`, the numbers of which the text names. */
function conditions(ask: PageAsk, values: unknown[]): string {
  const value = (given: unknown): string => `$${values.push(given)}`;
  return [
    `status <> 'NodeStatusDeleted'`,
    ...(ask.ids ? [`id = ANY (${value(ask.ids)}::text[])`] : []),
    ...(ask.changedAfter ? [`updated_at > ${value(ask.changedAfter)}::timestamptz`] : []),
    ...(ask.withoutBanned ? ['NOT banned'] : []),
    ...Object.entries(ask.met).map(([kind, marks]) => `${kind}_mark = ANY (${value(marks)}::bigint[])`),
  ].join(' AND ');
}

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
