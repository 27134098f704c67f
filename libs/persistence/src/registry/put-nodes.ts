import type { QueryRunner } from 'typeorm';
import { takeTurn } from './turns.js';
import { type Row, type Upsert, upsertNodes, upsertPublishers, upsertVersions } from './upserts.js';

/**
 * What is to be written of one node, by the names of the columns. What is not named stays as it is, null clears it.
 * Members are replaced as a whole.
 */
export interface NodeRecord {
  node: Columns & { id: string };
  publisher?: PublisherColumns;
  versions: (Columns & { version: string; created_at?: string })[];
  /** When given, no other version that is newer stays active; null: none stays active. */
  latest?: string | null;
}

type Columns = Record<string, unknown>;
export type PublisherColumns = Columns & { id: string; members?: Columns[] };

/** How many nodes are new, and of how many something has changed. */
export interface Written {
  created: number;
  changed: number;
}

// The clock is read when it is this writer's turn: a later writer never writes an earlier time.
const takeTurnAndReadClock = `
  WITH turn AS MATERIALIZED (${takeTurn}) SELECT router_now()::timestamptz(3) AS now FROM turn`;

const givenMembers = `
  SELECT given ->> 'id', place::integer, member ->> 'id', member ->> 'role',
      member ->> 'user_id', member ->> 'user_name', member ->> 'user_email'
    FROM jsonb_array_elements($1) AS each (given),
      jsonb_array_elements(given -> 'members') WITH ORDINALITY AS one (member, place)`;

const forgetMembers = `
  DELETE FROM publisher_member AS kept USING jsonb_array_elements($1) AS each (given)
    WHERE publisher_id = given ->> 'id' AND given ? 'members'
      AND kept NOT IN (SELECT ROW (one.*)::publisher_member FROM (${givenMembers}) AS one)`;

const insertMembers = `INSERT INTO publisher_member ${givenMembers} ON CONFLICT DO NOTHING`;

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

/** Records as what the statements need that write them. To make it takes long, and nobody's turn. */
export interface Prepared {
  publishers: PublisherColumns[];
  nodes: Upsert;
  versions: Upsert | null;
  /** The latest versions of records that name them, as JSON. */
  latest: string | null;
}

export function prepareNodes(records: readonly NodeRecord[]): Prepared {
  const versions = versionsOf(records);
  const latest = latestOf(records);
  return {
    publishers: publishersOf(records),
    nodes: upsertNodes(nodesOf(records)),
    versions: versions.length > 0 ? upsertVersions(versions) : null,
    latest: latest.length > 0 ? JSON.stringify(latest) : null,
  };
}

/**
 * Writes what was prepared within the runner's transaction. Writers take turns. Its statements are planned anew each
 * time: a plan of the first batch, made for empty tables, would read them as a whole in all later ones.
 */
export async function putNodes(
  runner: QueryRunner,
  prepared: Prepared,
  publishers: readonly PublisherColumns[],
): Promise<Written> {
  const ask = async <Result>(text: string, ...values: unknown[]): Promise<Result[]> =>
    (await runner.query(text, values, true)).records as Result[];

  const [clock] = await ask<{ now: Date }>(takeTurnAndReadClock);
  if (publishers.length > 0) await putPublishers(ask, publishers);
  const { nodes } = prepared;
  const written = await ask<{ id: string; isNew: boolean }>(nodes.text, nodes.rows, clock?.now);
  const updated = await putVersions(ask, prepared, clock?.now);
  // A node's time follows its versions.
  for (const { id } of written) updated.delete(id);
  if (updated.size > 0) await ask(updateTime, [...updated], clock?.now);

  const created = written.filter(({ isNew }) => isNew).length;
  return { created, changed: written.length - created + updated.size };
}

type Ask = <Result>(text: string, ...values: unknown[]) => Promise<Result[]>;

async function putPublishers(ask: Ask, publishers: readonly PublisherColumns[]): Promise<void> {
  const { text, rows } = upsertPublishers(publishers);
  await ask(text, rows);
  const withMembers = publishers.filter(({ members }) => members);
  if (withMembers.length === 0) return;
  await ask(forgetMembers, JSON.stringify(withMembers));
  await ask(insertMembers, JSON.stringify(withMembers));
}

/** The ids of the nodes of which a version has changed. */
async function putVersions(ask: Ask, { versions, latest }: Prepared, now?: Date): Promise<Set<string>> {
  const changed: { id: string }[] = [];
  if (versions) changed.push(...(await ask<{ id: string }>(versions.text, versions.rows, now)));
  if (latest !== null) changed.push(...(await ask<{ id: string }>(withdrawNewer, latest)));
  return new Set(changed.map(({ id }) => id));
}

/** Each publisher once: what later records say of it comes over what earlier ones say. */
function publishersOf(records: readonly NodeRecord[]): PublisherColumns[] {
  const publishers = new Map<string, PublisherColumns>();
  for (const { publisher } of records) {
    if (publisher) publishers.set(publisher.id, { ...publishers.get(publisher.id), ...publisher });
  }
  return [...publishers.values()];
}

const nodesOf = (records: readonly NodeRecord[]): Row[] =>
  records.map(({ node, versions }) => ({
    ...node,
    // Times of one form: the greatest text is the latest time.
    newest_version_at:
      versions.reduce((newest, { created_at = '' }) => (created_at > newest ? created_at : newest), '') ||
      null,
  }));

const versionsOf = (records: readonly NodeRecord[]): Row[] =>
  records.flatMap(({ node, versions }) => versions.map((version) => ({ ...version, node_id: node.id })));

const latestOf = (records: readonly NodeRecord[]): Row[] =>
  records.flatMap(({ node, latest }) => (latest === undefined ? [] : [{ id: node.id, latest }]));
