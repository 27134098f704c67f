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

interface Column {
  name: string;
  type: string;
}

function typed(names: Record<string, string>): Column[] {
  return Object.entries(names).flatMap(([type, words]) => words.split(/\s+/).map((name) => ({ name, type })));
}

const keys: Record<Table, readonly string[]> = {
  publisher: ['id'],
  node: ['id'],
  node_version: ['node_id', 'version'],
};

/** What a new row has where nothing is given, in columns that are always written. */
const atFirst: Record<Table, Readonly<Record<string, string>>> = {
  publisher: { status: `'PublisherStatusActive'` },
  node: {
    name: 'given.id',
    description: `''`,
    publisher_id: 'NULL',
    status: `'NodeStatusActive'`,
    created_at: '$2::timestamptz',
  },
  node_version: { status: `'NodeVersionStatusActive'`, created_at: '$2::timestamptz' },
};

export type Row = Readonly<Record<string, unknown>>;

export interface Upsert {
  text: string;
  /** The rows, for the statement's first parameter. */
  rows: string;
}

/** Parameter: the rows. Each publisher stands there once. */
export function upsertPublishers(rows: readonly Row[]): Upsert {
  const { select, written, replaced, given } = changed('publisher', rows);
  return {
    rows: given,
    text: `INSERT INTO publisher (${written}) ${select} ON CONFLICT (id) DO UPDATE SET ${replaced}`,
  };
}

/**
 * Parameters: the rows, each node once, with the time of the newest version that comes with it as `newest_version_at`;
 * the time of the writing.
 */
export function upsertNodes(rows: readonly Row[]): Upsert {
  const { select, written, replaced, given } = changed('node', rows, {
    given: 'newest_version_at timestamptz(3)',
    value: 'greatest(coalesce(given.created_at, $2::timestamptz), newest_version_at)',
  });
  return {
    rows: given,
    text: `
      INSERT INTO node (${written}, updated_at, publisher_banned)
        SELECT changed.*, coalesce(publisher.listed_status = 'PublisherStatusBanned', false)
        FROM (${select}) AS changed (${written}, updated_at)
          LEFT JOIN publisher ON publisher.id = changed.publisher_id
        ON CONFLICT (id) DO UPDATE SET ${replaced},
          updated_at = greatest($2::timestamptz, EXCLUDED.created_at), publisher_banned = EXCLUDED.publisher_banned
        RETURNING id, xmax = 0 AS "isNew"`,
  };
}

/** Parameters: the rows, each version once; the time of the writing. */
export function upsertVersions(rows: readonly Row[]): Upsert {
  const { select, written, replaced, given } = changed('node_version', rows);
  return {
    rows: given,
    text: `
      INSERT INTO node_version (${written}) ${select}
        ON CONFLICT (node_id, version) DO UPDATE SET ${replaced}
        RETURNING node_id AS id`,
  };
}

/**
 * Selects the rows that are new or of which something changes; another one is not even locked. A statement is made for
 * the columns that its rows name: to read and compare all that there are would take twice as long.
 */
function changed(table: Table, rows: readonly Row[], also?: { given: string; value: string }) {
  const key = keys[table];
  const named = columns[table].flatMap((column) => mergedColumn(table, column, rows));
  const mixed = named.filter(({ isMixed }) => isMixed).map(({ name }) => name);
  const list = (prefix = '') => named.map(({ name }) => `${prefix}${name}`).join(', ');
  const merged = named.map((column) => column.merged).join(', ');
  const given = [
    ...key.map((name) => `${name} text`),
    ...named.map(({ name, type }) => `${name} ${type}`),
    ...mixed.map((name) => `has_${name} boolean`),
    ...(also ? [also.given] : []),
  ];
  const flagsOf = (row: Row) => Object.fromEntries(mixed.map((name) => [`has_${name}`, names(row, name)]));
  return {
    given: JSON.stringify(mixed.length === 0 ? rows : rows.map((row) => ({ ...row, ...flagsOf(row) }))),
    written: [...key, list()].join(', '),
    select: `
      SELECT ${[...key.map((name) => `given.${name}`), merged, ...(also ? [also.value] : [])].join(', ')}
      FROM json_to_recordset($1) AS given (${given.join(', ')})
        LEFT JOIN ${table} AS kept ON ${key.map((name) => `kept.${name} = given.${name}`).join(' AND ')}
      WHERE kept.${key[0]} IS NULL OR (${list('kept.')}) IS DISTINCT FROM (${merged})`,
    replaced: `(${list()}) = ROW (${list('EXCLUDED.')})`,
  };
}

const names = (row: Row, column: string): boolean => row[column] !== undefined;

interface MergedColumn extends Column {
  /** What is to be written: what a row names, or else what is kept. */
  merged: string;
  /** Some rows name it, others do not. */
  isMixed: boolean;
}

/** None when the column is not written. */
function mergedColumn(table: Table, { name, type }: Column, rows: readonly Row[]): MergedColumn[] {
  const first = atFirst[table][name];
  const naming = rows.filter((row) => names(row, name)).length;
  const isMixed = naming > 0 && naming < rows.length;
  // Equal is what has the same bytes, in whichever order a column sorts its texts.
  const column = (merged: string) => [
    { name, type, isMixed, merged: type === 'text' ? `(${merged}) COLLATE "C"` : merged },
  ];
  if (naming === 0) return first === undefined ? [] : column(`coalesce(kept.${name}, ${first})`);
  const value = first === undefined ? `given.${name}` : `coalesce(given.${name}, ${first})`;
  if (!isMixed) return column(value);
  return column(
    `CASE WHEN kept.${keys[table][0]} IS NULL OR given.has_${name} THEN ${value} ELSE kept.${name} END`,
  );
}
