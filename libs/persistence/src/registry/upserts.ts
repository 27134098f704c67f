/** The columns of each table that a record can set; a record names them as it is stored. */
const columns = {
  publisher: words('name description logo website support source_code_repo created_at status'),
  node: words(`name description author category tags tags_admin created_at downloads github_stars rating
    search_ranking icon banner_url repository license publisher_id status status_detail preempted_app_node_names
    supported_accelerators supported_os supported_app_version supported_app_frontend_version translations`),
  node_version: words(`id changelog created_at deprecated dependencies download_url status status_reason
    app_node_extract_status supported_accelerators supported_os supported_app_version
    supported_app_frontend_version tags tags_admin`),
};

function words(text: string): string[] {
  return text.split(/\s+/);
}

const list = (names: readonly string[], prefix = ''): string =>
  names.map((name) => `${prefix}${name}`).join(', ');

/** The end of an upsert: a row is written only when a column of it changes; `also` is written with it. */
const replacing = (table: keyof typeof columns, also = ''): string => `
    DO UPDATE SET (${list(columns[table])}) = ROW (${list(columns[table], 'EXCLUDED.')})${also}
    WHERE (${list(columns[table], `${table}.`)}) IS DISTINCT FROM (${list(columns[table], 'EXCLUDED.')})`;

/** Parameter: an array of columns of publishers, each once. */
export const upsertPublishers = `
  INSERT INTO publisher (id, ${list(columns.publisher)})
    SELECT given ->> 'id', ${list(columns.publisher, 'merged.')}
    FROM jsonb_array_elements($1) AS each (given)
      LEFT JOIN publisher AS kept ON kept.id = given ->> 'id',
      LATERAL jsonb_populate_record(kept, CASE WHEN kept.id IS NULL
        THEN '{"status": "PublisherStatusActive"}' || given ELSE given END) AS merged
    ON CONFLICT (id) ${replacing('publisher')}`;

/**
 * Parameters: an array of columns of nodes, each once, with the time of the newest version that comes with it; the
 * time of the writing.
 */
export const upsertNodes = `
  INSERT INTO node (id, ${list(columns.node)}, updated_at, publisher_banned, os_mark, accelerator_mark, app_mark)
    SELECT given ->> 'id', ${list(columns.node, 'merged.')},
      coalesce(kept.updated_at, greatest(merged.created_at, (given ->> 'newest_version_at')::timestamptz)),
      coalesce(publisher.listed_status = 'PublisherStatusBanned', false),
      demand_mark(merged.supported_os), demand_mark(merged.supported_accelerators),
      demand_mark(app_demands(merged.supported_app_version))
    FROM jsonb_array_elements($1) AS each (given)
      LEFT JOIN node AS kept ON kept.id = given ->> 'id',
      LATERAL jsonb_populate_record(kept, CASE WHEN kept.id IS NULL
        THEN jsonb_build_object('name', given ->> 'id', 'description', '', 'status', 'NodeStatusActive',
          'created_at', $2::timestamptz) || given ELSE given END) AS merged
      LEFT JOIN publisher ON publisher.id = merged.publisher_id
    ON CONFLICT (id) ${replacing(
      'node',
      `,
      updated_at = greatest($2::timestamptz, EXCLUDED.created_at), publisher_banned = EXCLUDED.publisher_banned,
      os_mark = EXCLUDED.os_mark, accelerator_mark = EXCLUDED.accelerator_mark, app_mark = EXCLUDED.app_mark`,
    )}
    RETURNING id, xmax = 0 AS "isNew"`;

/** Parameters: an array of columns of versions, each once; the time of the writing. */
export const upsertVersions = `
  INSERT INTO node_version (node_id, version, ${list(columns.node_version)})
    SELECT given ->> 'node_id', given ->> 'version', ${list(columns.node_version, 'merged.')}
    FROM jsonb_array_elements($1) AS each (given)
      LEFT JOIN node_version AS kept
        ON kept.node_id = given ->> 'node_id' AND kept.version = given ->> 'version',
      LATERAL jsonb_populate_record(kept, CASE WHEN kept.version IS NULL
        THEN jsonb_build_object('status', 'NodeVersionStatusActive', 'created_at', $2::timestamptz) || given
        ELSE given END) AS merged
    ON CONFLICT (node_id, version) ${replacing('node_version')}
    RETURNING node_id AS id`;
