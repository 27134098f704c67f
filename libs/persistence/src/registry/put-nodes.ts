import type { QueryRunner } from 'typeorm';
import { takeTurn } from './turns.js';
import { upsertNodes, upsertPublishers, upsertVersions } from './upserts.js';

/**
 * What is to be written of one node, by the names of the columns. What is not named stays as it is, null clears it.
 * Members are replaced as a whole.
 */
export interface NodeRecord {
  node: Columns & { id: string };
  publisher?: Columns & { id: string; members?: Columns[] };
  versions: (Columns & { version: string; created_at?: string })[];
  /** When given, no other version that is newer stays active; null: none stays active. */
  latest?: string | null;
}

type Columns = Record<string, unknown>;

/** How many nodes are new, and of how many something has changed. */
export interface Written {
  created: number;
  changed: number;
}

// Read when it is this writer's turn: a later writer never writes an earlier time.
const readClock = 'SELECT clock_timestamp()::timestamptz(3) AS now';

const forgetMembers = `
  DELETE FROM publisher_member USING jsonb_array_elements($1) AS each (given)
    WHERE publisher_id = given ->> 'id' AND given ? 'members'`;

const insertMembers = `
  INSERT INTO publisher_member (publisher_id, place, id, role, user_id, user_name, user_email)
    SELECT given ->> 'id', place, member ->> 'id', member ->> 'role',
      member ->> 'user_id', member ->> 'user_name', member ->> 'user_email'
    FROM jsonb_array_elements($1) AS each (given),
      jsonb_array_elements(given -> 'members') WITH ORDINALITY AS one (member, place)`;

/** A source that lists only its latest version has none that is newer. */
const withdrawNewer = `
  UPDATE node_version SET status = 'NodeVersionStatusDeleted'
    FROM jsonb_array_elements($1) AS each (record)
      LEFT JOIN node_version AS latest
        ON latest.node_id = record ->> 'id' AND latest.version = record ->> 'latest'
    WHERE node_version.node_id = record ->> 'id' AND node_version.status = 'NodeVersionStatusActive'
      AND (latest.version IS NULL
        OR (node_version.created_at, node_version.version) > (latest.created_at, latest.version))
    RETURNING node_version.node_id AS id`;

const updateTime = `UPDATE node SET updated_at = greatest($2::timestamptz, created_at) WHERE id = ANY ($1::text[])`;

/**
 * Writes the records within the runner's transaction. Writers take turns. Its statements are planned anew each
 * time: a plan of the first batch, made for empty tables, would read them as a whole in all later ones.
 */
export async function putNodes(runner: QueryRunner, records: readonly NodeRecord[]): Promise<Written> {
  const ask = async <Row>(text: string, ...values: unknown[]): Promise<Row[]> =>
    (await runner.query(text, values, true)).records as Row[];
  const publishers = publishersOf(records);

  await ask(takeTurn);
  const [clock] = await ask<{ now: Date }>(readClock);
  await ask(upsertPublishers, publishers);
  await ask(forgetMembers, publishers);
  await ask(insertMembers, publishers);
  const written = await ask<{ id: string; isNew: boolean }>(upsertNodes, nodesOf(records), clock?.now);
  const ids = written.map(({ id }) => id);

  const withNewVersions = await ask<{ id: string }>(upsertVersions, versionsOf(records), clock?.now);
  const withFewerVersions = await ask<{ id: string }>(withdrawNewer, latestOf(records));
  const updated = new Set([...withNewVersions, ...withFewerVersions].map(({ id }) => id));
  // A node's time follows its versions.
  for (const id of ids) updated.delete(id);
  await ask(updateTime, [...updated], clock?.now);

  const created = written.filter(({ isNew }) => isNew).length;
  return { created, changed: written.length - created + updated.size };
}

/** Each publisher once: what later records say of it comes over what earlier ones say. */
function publishersOf(records: readonly NodeRecord[]): string {
  const publishers = new Map<string, NonNullable<NodeRecord['publisher']>>();
  for (const { publisher } of records) {
    if (publisher) publishers.set(publisher.id, { ...publishers.get(publisher.id), ...publisher });
  }
  return JSON.stringify([...publishers.values()]);
}

const nodesOf = (records: readonly NodeRecord[]): string =>
  JSON.stringify(
    records.map(({ node, versions }) => ({
      ...node,
      // Times of one form: the greatest text is the latest time.
      newest_version_at:
        versions.reduce((newest, { created_at = '' }) => (created_at > newest ? created_at : newest), '') ||
        null,
    })),
  );

const versionsOf = (records: readonly NodeRecord[]): string =>
  JSON.stringify(
    records.flatMap(({ node, versions }) => versions.map((version) => ({ ...version, node_id: node.id }))),
  );

const latestOf = (records: readonly NodeRecord[]): string =>
  JSON.stringify(
    records.flatMap(({ node, latest }) => (latest === undefined ? [] : [{ id: node.id, latest }])),
  );
