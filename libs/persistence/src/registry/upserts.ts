interface Table {
  name: string;
  keys: readonly string[];
  /** The columns that a record may set. */
  columns: readonly string[];
  /** The default of a column in a new row. `$2` is the time of the write. */
  defaults: Readonly<Record<string, string>>;
}

const names = (text: string): string[] => text.split(/\s+/);

/** Parameter: the publishers as JSON, each once. */
export const upsertPublishers = upsert({
  name: 'publisher',
  keys: ['id'],
  columns: names('name description logo website support source_code_repo created_at status'),
  defaults: { status: `'PublisherStatusActive'` },
});

/**
 * Parameters: the nodes as JSON, each once, with the time of their newest given version as `newest_version_at`; the
 * time of the write.
 */
export const upsertNodes = upsert(
  {
    name: 'node',
    keys: ['id'],
    columns: names(
      `name description author category icon banner_url repository license publisher_id status status_detail
      supported_app_version supported_app_frontend_version supported_accelerators supported_os tags tags_admin
      preempted_app_node_names created_at downloads github_stars search_ranking rating translations`,
    ),
    defaults: {
      name: 'merged.id',
      description: `''`,
      status: `'NodeStatusActive'`,
      created_at: '$2::timestamptz',
    },
  },
  {
    updated_at: [
      `greatest(coalesce(merged.created_at, $2::timestamptz), (given ->> 'newest_version_at')::timestamptz)`,
      'greatest($2::timestamptz, EXCLUDED.created_at)',
    ],
    publisher_banned: [
      `EXISTS (SELECT FROM publisher WHERE id = merged.publisher_id AND listed_status = 'PublisherStatusBanned')`,
      'EXCLUDED.publisher_banned',
    ],
  },
).concat(` RETURNING id, xmax = 0 AS "isNew"`);

/** Parameters: the versions as JSON, each once; the time of the write. */
export const upsertVersions = upsert({
  name: 'node_version',
  keys: ['node_id', 'version'],
  columns: names(
    `id changelog download_url status status_reason app_node_extract_status supported_app_version
    supported_app_frontend_version supported_accelerators supported_os dependencies tags tags_admin created_at
    deprecated`,
  ),
  defaults: { status: `'NodeVersionStatusActive'`, created_at: '$2::timestamptz' },
}).concat(' RETURNING node_id AS id');

/**
 * Writes new and changed rows, and does not lock unchanged ones. An absent column keeps its value; null clears it.
 * `computed` has the values of further columns, for a new and for a changed row.
 */
function upsert(
  { name, keys, columns, defaults }: Table,
  computed: Readonly<Record<string, readonly [inserted: string, updated: string]>> = {},
): string {
  const list = (prefix: string) => columns.map((column) => `${prefix}${column}`).join(', ');
  const inserted = [
    ...keys.map((key) => `merged.${key}`),
    ...columns.map((column) => `coalesce(merged.${column}, ${defaults[column] ?? 'NULL'})`),
    ...Object.values(computed).map(([value]) => value),
  ];
  const updated = Object.entries(computed).map(([column, [, value]]) => `, ${column} = ${value}`);
  return `
    INSERT INTO ${name} (${[...keys, ...columns, ...Object.keys(computed)].join(', ')})
      SELECT ${inserted.join(', ')}
      FROM jsonb_array_elements($1) AS record (given)
        LEFT JOIN ${name} AS kept ON ${keys.map((key) => `kept.${key} = given ->> '${key}'`).join(' AND ')},
        LATERAL jsonb_populate_record(kept, given) AS merged
      WHERE kept.${keys[0]} IS NULL OR (${list('kept.')}) IS DISTINCT FROM (${list('merged.')})
      ON CONFLICT (${keys.join(', ')}) DO UPDATE
        SET (${list('')}) = ROW (${list('EXCLUDED.')})${updated.join('')}`;
}
