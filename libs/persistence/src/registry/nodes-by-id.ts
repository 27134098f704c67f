import type { RegistryNode } from '#schemas';
import { listedStatusDetail } from './node-columns.js';

export interface NodesById {
  revision: string;
  /** Null for a node that is not listed. */
  nodes: ({ facts: RegistryNode; translations: RegistryNode['translations'] | null } | null)[] | null;
}

const moment = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const latestVersion = `
  SELECT to_json(latest) FROM (
    SELECT coalesce(id, node_id || '@' || version) AS id, node_id, version, changelog, ${moment('node_version.created_at')} AS "createdAt", deprecated,
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

const facts = `
  SELECT to_json(facts) FROM (
    SELECT id, name, description, author, category, tags, coalesce(moderated_tags, tags_admin) AS tags_admin,
      ${moment('node.created_at')} AS created_at, downloads, github_stars, rating, search_ranking, icon, banner_url,
      repository, license, (${latestVersion}) AS latest_version, (${publisher}) AS publisher,
      listed_status AS status, ${listedStatusDetail} AS status_detail,
      preempted_app_node_names, supported_accelerators, supported_os, supported_app_version,
      supported_app_frontend_version
  ) AS facts`;

/** Fields without a value are absent. Translations are an open object, which may contain nulls. */
const node = `
  SELECT json_build_object('facts', json_strip_nulls((${facts})), 'translations', translations)
    FROM node WHERE id = page.id AND status <> 'NodeStatusDeleted' AND ($2 OR NOT banned)`;

/**
 * The nodes with the given ids, in that order, and the current revision. Each node is looked up by id, so that no
 * table is scanned.
 */
export const nodesById = `
  SELECT revision, (
    SELECT json_agg((${node}) ORDER BY place) FROM unnest($1::text[]) WITH ORDINALITY AS page (id, place)
  ) AS nodes FROM registry_revision`;
