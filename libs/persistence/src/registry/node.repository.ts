import { DataSource, type QueryRunner } from 'typeorm';
import { advisoryLocks } from '../locks.js';
import { upsertNodes, upsertPublishers, upsertVersions } from './upserts.js';

type Columns = Record<string, unknown>;
type GivenPublisher = Columns & { id: string; members?: Columns[] };

/**
 * One node to write, by column name. An absent column keeps its value; null clears it. Members are replaced as a
 * whole.
 */
export interface NodeRecord {
  node: Columns & { id: string };
  publisher?: GivenPublisher;
  versions: (Columns & { version: string; created_at?: string })[];
  /** If given, newer versions than this one become inactive. With null, all versions become inactive. */
  latest?: string | null;
}

/** The number of new nodes, and the number of changed ones. */
export interface Written {
  created: number;
  changed: number;
}

/** Writers of the registry take turns; each holds the lock until its transaction ends. */
export const acquireWriteLock = `SELECT pg_advisory_xact_lock(${advisoryLocks.registryWrite})`;

// Read the clock while holding the lock, so that a later writer never writes an earlier time.
const acquireWriteLockAndReadClock = `
  WITH lock AS MATERIALIZED (${acquireWriteLock}) SELECT router_now()::timestamptz(3) AS now FROM lock`;

const givenMembers = `
  SELECT given ->> 'id', place::integer, member ->> 'id', member ->> 'role',
      member ->> 'user_id', member ->> 'user_name', member ->> 'user_email'
    FROM jsonb_array_elements($1) AS record (given),
      jsonb_array_elements(given -> 'members') WITH ORDINALITY AS one (member, place)`;

const deleteMembers = `
  DELETE FROM publisher_member AS kept USING jsonb_array_elements($1) AS record (given)
    WHERE publisher_id = given ->> 'id' AND given ? 'members'
      AND kept NOT IN (SELECT ROW (one.*)::publisher_member FROM (${givenMembers}) AS one)`;

const insertMembers = `INSERT INTO publisher_member ${givenMembers} ON CONFLICT DO NOTHING`;

/** If a source lists only its latest version, no newer one exists. */
const withdrawNewerVersions = `
  UPDATE node_version SET status = 'NodeVersionStatusDeleted'
    FROM jsonb_array_elements($1) AS each (record)
      LEFT JOIN node_version AS latest
        ON latest.node_id = record ->> 'id' AND latest.version = record ->> 'latest'
    WHERE node_version.node_id = record ->> 'id' AND node_version.status = 'NodeVersionStatusActive'
      AND (latest.version IS NULL
        OR (node_version.created_at, node_version.version) > (latest.created_at, latest.version))
    RETURNING node_version.node_id AS id`;

const touchNodes = `UPDATE node SET updated_at = greatest($2::timestamptz, created_at) WHERE id = ANY ($1::text[])`;

/** Minimum number of written nodes to analyze the tables. Smaller changes are left to autovacuum. */
const minAnalyzedNodes = 1000;

/** Writes the records of imports and mirrors. */
export class NodeRepository {
  /** The last JSON written for each publisher, because all of its nodes repeat the same facts. */
  private readonly writtenPublishers = new Map<string, string>();

  constructor(private readonly dataSource: DataSource) {}

  /**
   * Writes all records, or nothing if one of them cannot be written. Each node and version must occur once. With
   * `dryRun` it only returns what would be written.
   */
  async put(records: readonly NodeRecord[], { dryRun = false } = {}): Promise<Written> {
    const runner = this.dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      const publishers = publishersOf(records).filter(
        (publisher) => this.writtenPublishers.get(publisher.id) !== JSON.stringify(publisher),
      );
      const written = await write(runner, records, publishers);
      if (dryRun) return written;
      await runner.commitTransaction();
      for (const publisher of publishers) this.writtenPublishers.set(publisher.id, JSON.stringify(publisher));
      return written;
    } finally {
      if (runner.isTransactionActive) await runner.rollbackTransaction();
      await runner.release();
    }
  }

  /** Refreshes the planner's statistics after many nodes were written. This also replans prepared statements. */
  async analyze({ created, changed }: Written): Promise<void> {
    if (created + changed >= minAnalyzedNodes)
      await this.dataSource.query('VACUUM (ANALYZE) node, node_version, publisher, publisher_member');
  }
}

async function write(
  runner: QueryRunner,
  records: readonly NodeRecord[],
  publishers: readonly GivenPublisher[],
): Promise<Written> {
  const query = async <Row>(text: string, rows?: readonly object[], ...more: unknown[]): Promise<Row[]> => {
    const values = rows === undefined ? [] : [JSON.stringify(rows), ...more];
    return (await runner.query(text, values, true)).records as Row[];
  };
  const [clock] = await query<{ now: Date }>(acquireWriteLockAndReadClock);
  if (publishers.length > 0) await query(upsertPublishers, publishers);
  const withMembers = publishers.filter(({ members }) => members);
  if (withMembers.length > 0) {
    await query(deleteMembers, withMembers);
    await query(insertMembers, withMembers);
  }
  const nodes = await query<{ id: string; isNew: boolean }>(upsertNodes, nodesOf(records), clock?.now);

  const updated = new Set<string>();
  const versions = records.flatMap(({ node, versions: given }) =>
    given.map((version) => ({ ...version, node_id: node.id })),
  );
  const latest = records.flatMap(({ node: { id }, latest: version }) =>
    version === undefined ? [] : [{ id, latest: version }],
  );
  if (versions.length > 0)
    for (const { id } of await query<{ id: string }>(upsertVersions, versions, clock?.now)) updated.add(id);
  if (latest.length > 0)
    for (const { id } of await query<{ id: string }>(withdrawNewerVersions, latest)) updated.add(id);
  // A node's update time includes changes to its versions.
  for (const { id } of nodes) updated.delete(id);
  if (updated.size > 0) await runner.query(touchNodes, [[...updated], clock?.now]);

  const created = nodes.filter(({ isNew }) => isNew).length;
  return { created, changed: nodes.length - created + updated.size };
}

/** Each publisher once. Facts of later records override those of earlier ones. */
function publishersOf(records: readonly NodeRecord[]): GivenPublisher[] {
  const publishers = new Map<string, GivenPublisher>();
  for (const { publisher } of records)
    if (publisher) publishers.set(publisher.id, { ...publishers.get(publisher.id), ...publisher });
  return [...publishers.values()];
}

const nodesOf = (records: readonly NodeRecord[]): object[] =>
  records.map(({ node, versions }) => ({
    ...node,
    // All times have the same format, so the greatest string is the latest time.
    newest_version_at:
      versions.reduce((newest, { created_at = '' }) => (created_at > newest ? created_at : newest), '') ||
      null,
  }));
