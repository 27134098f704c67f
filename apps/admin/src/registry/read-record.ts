import type { NodeRecord } from '#persistence';
import type { z } from 'zod';
import {
  type GivenMember,
  type GivenNode,
  type GivenPublisher,
  type GivenVersion,
  nodeShape,
  publisherShape,
  versionShape,
} from './node-shape.js';

type Read = { record: NodeRecord } | { reason: string };

/** Maximum number of invalid fields that are reported for a record. */
const maxIssues = 3;

/**
 * Reads one node. With `whole`, an absent field has no value, as in a page of another registry; otherwise the
 * stored value is unchanged.
 */
export function readRecord(value: unknown, { whole }: { whole: boolean }): Read {
  const parsed = nodeShape.safeParse(value);
  if (!parsed.success) return { reason: reasonOf(parsed.error) };
  return { record: whole ? wholeRecord(parsed.data) : partialRecord(parsed.data) };
}

function partialRecord(given: GivenNode): NodeRecord {
  const { latest_version, versions, publisher, publisher_id, ...facts } = given;
  const publisherId = publisher?.id ?? publisher_id;
  const all = new Map<string, GivenVersion>();
  for (const each of [...(versions ?? []), ...(latest_version ? [latest_version] : [])]) {
    all.set(each.version, { ...all.get(each.version), ...each });
  }
  return {
    node: {
      ...stored(facts, { name: given.id, description: '', status: 'NodeStatusActive' }),
      id: given.id,
      ...(publisherId !== undefined && { publisher_id: publisherId }),
      ...(publisher === null && publisher_id === undefined && { publisher_id: null }),
    },
    ...(publisherId && { publisher: publisherRecord(publisher ?? { id: publisherId }) }),
    versions: [...all.values()].map(versionRecord),
  };
}

/** Sets absent fields to null, and makes the given latest version the newest active one. */
function wholeRecord(given: GivenNode): NodeRecord {
  const { publisher, latest_version: latest } = given;
  const filled = {
    ...nothing(nodeShape),
    ...given,
    publisher: publisher ? { ...nothing(publisherShape), ...publisher } : null,
    latest_version: latest ? { ...nothing(versionShape), ...latest } : null,
  } as GivenNode;
  return { ...partialRecord(filled), latest: latest?.version ?? null };
}

const nothing = ({ shape }: z.ZodObject) =>
  Object.fromEntries(Object.keys(shape).map((name) => [name, null]));

const publisherRecord = ({ members, createdAt, ...facts }: GivenPublisher) => ({
  ...stored(facts, { status: 'PublisherStatusActive' }),
  id: facts.id,
  ...(createdAt !== undefined && { created_at: createdAt }),
  ...(members !== undefined && { members: (members ?? []).map(memberRecord) }),
});

const memberRecord = ({ id, role, user }: GivenMember) => ({
  id,
  role,
  user_id: user?.id,
  user_name: user?.name,
  user_email: user?.email,
});

const versionRecord = ({ createdAt, downloadUrl, ...facts }: GivenVersion) => ({
  ...stored(facts, { status: 'NodeVersionStatusActive' }),
  version: facts.version,
  ...(createdAt && { created_at: createdAt }),
  ...(downloadUrl !== undefined && { download_url: downloadUrl }),
});

/** The given fields by column. Null becomes the default in columns that must have a value. */
function stored(facts: Record<string, unknown>, defaults: Record<string, string>) {
  const columns: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(facts)) {
    if (name === 'created_at' && value === null) continue;
    columns[name] = value === null ? (defaults[name] ?? null) : value;
  }
  return columns;
}

const reasonOf = (error: z.ZodError): string =>
  error.issues
    .slice(0, maxIssues)
    .map(({ path, message }) => `${path.join('.') || 'record'}: ${message.replace('Invalid input: ', '')}`)
    .join('; ');
