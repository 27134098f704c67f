/** The columns of each table that a record can set, by their type; a record names them as it is stored. */
const columns = {
  publisher: typed({
    text: 'name description logo website support source_code_repo status',
    'timestamptz(3)': 'created_at',
  }),
  node: typed({
    text: `name description author category icon banner_url repository license publisher_id status status_detail
      supported_app_version supported_app_frontend_version`,
    'text[]': 'tags tags_admin preempted_app_node_names supported_accelerators supported_os',
    'timestamptz(3)': 'created_at',
    bigint: 'downloads github_stars search_ranking',
    'double precision': 'rating',
    jsonb: 'translations',
  }),
  node_version: typed({
    text: `id changelog download_url status status_reason app_node_extract_status supported_app_version
      supported_app_frontend_version`,
    'text[]': 'dependencies supported_accelerators supported_os tags tags_admin',
    'timestamptz(3)': 'created_at',
    boolean: 'deprecated',
  }),
};

type Table = keyof typeof columns;

function typed(names: Record<string, string>): { name: string; type: string }[] {
  return Object.entries(names).flatMap(([type, words]) => words.split(/\s+/).map((name) => ({ name, type })));
}

const list = (table: Table, prefix = ''): string =>
  columns[table].map(({ name }) => `${prefix}${name}`).join(', ');

/**
 * The array of records, as `record`, beside their values, as `given`, and the rows that are there already, as
 * `kept`. The whole array is read at once: a record at a time would take several times as long.
 */
const given = (table: Table, key: readonly string[]): string => `
    ROWS FROM (jsonb_array_elements($1),
      jsonb_to_recordset($1) AS (${[
        ...key.map((name) => `${name} text`),
        ...(table === 'node' ? ['newest_version_at timestamptz(3)'] : []),
        ...columns[table]
          .filter(({ name }) => !key.includes(name))
          .map(({ name, type }) => `${name} ${type}`),
      ].join(', ')})) AS given (record)
      LEFT JOIN ${table} AS kept ON ${key.map((name) => `kept.${name} = given.${name}`).join(' AND ')}`;

/** What is to be written: what the record names, or else what is kept; a new row has `atFirst` where nothing is given. */
const merged = (table: Table, key: string, atFirst: Readonly<Record<string, string>>): string =>
  columns[table]
    .map(({ name }) => {
      const value =
        atFirst[name] === undefined ? `given.${name}` : `coalesce(given.${name}, ${atFirst[name]})`;
      return `CASE WHEN kept.${key} IS NULL OR record ? '${name}' THEN ${value} ELSE kept.${name} END`;
    })
    .join(', ');

/** The end of an upsert: a row is written only when a column of it changes; `also` is written with it. */
const replacing = (table: Table, also = ''): string => `
    DO UPDATE SET (${list(table)}) = ROW (${list(table, 'EXCLUDED.')})${also}
    WHERE (${list(table, `${table}.`)}) IS DISTINCT FROM (${list(table, 'EXCLUDED.')})`;

/** Parameter: an array of columns of publishers, each once. */
export const upsertPublishers = `
  INSERT INTO publisher (id, ${list('publisher')})
    SELECT given.id, ${merged('publisher', 'id', { status: `'PublisherStatusActive'` })}
    FROM ${given('publisher', ['id'])}
    ON CONFLICT (id) ${replacing('publisher')}`;

/**
 * Parameters: an array of columns of nodes, each once, with the time of the newest version that comes with it; the
 * time of the writing.
 */
export const upsertNodes = `
  INSERT INTO node (id, ${list('node')}, updated_at, publisher_banned)
    SELECT merged.*, coalesce(publisher.listed_status = 'PublisherStatusBanned', false)
    FROM (
      SELECT given.id, ${merged('node', 'id', {
        name: 'given.id',
        description: `''`,
        status: `'NodeStatusActive'`,
        created_at: '$2::timestamptz',
      })},
        coalesce(kept.updated_at, greatest(coalesce(given.created_at, $2::timestamptz), newest_version_at))
      FROM ${given('node', ['id'])}
    ) AS merged (id, ${list('node')}, updated_at)
      LEFT JOIN publisher ON publisher.id = merged.publisher_id
    ON CONFLICT (id) ${replacing(
      'node',
      `,
      updated_at = greatest($2::timestamptz, EXCLUDED.created_at), publisher_banned = EXCLUDED.publisher_banned`,
    )}
    RETURNING id, xmax = 0 AS "isNew"`;

/** Parameters: an array of columns of versions, each once; the time of the writing. */
export const upsertVersions = `
  INSERT INTO node_version (node_id, version, ${list('node_version')})
    SELECT given.node_id, given.version, ${merged('node_version', 'version', {
      status: `'NodeVersionStatusActive'`,
      created_at: '$2::timestamptz',
    })}
    FROM ${given('node_version', ['node_id', 'version'])}
    ON CONFLICT (node_id, version) ${replacing('node_version')}
    RETURNING node_id AS id`;
