import { createHash } from 'node:crypto';
import type { Read } from './cut.js';
import { listedKinds, type NodeKind } from './kinds.js';
import type { Query } from './page-query.js';

/** Counts that are kept of a revision. */
const mostCounts = 1000;

export const currentRevision: Query = { text: 'SELECT revision FROM registry_revision', values: [] };

/** What was found of all nodes of a revision. */
interface Finding {
  revision: string;
  kinds: readonly NodeKind[];
  counts: Map<string, object[]>;
}

/**
 * Keeps what pages of the same revision have in common: who walks over many pages has their nodes counted once. A
 * page's snapshot tells its revision, so nothing here is ever old.
 */
export class Findings {
  private newest: Finding | undefined;

  /** The kinds in the snapshot that is read, and a reader of it that asks for no count twice. */
  async in(read: Read): Promise<{ kinds: readonly NodeKind[]; read: Read }> {
    const [current] = await read<{ revision: string }>(currentRevision);
    if (current === undefined) throw new Error('The table registry_revision has lost its row.');
    if (this.newest?.revision !== current.revision)
      this.newest = { ...current, kinds: await read<NodeKind>(listedKinds), counts: new Map() };
    const { kinds, counts } = this.newest;
    return { kinds, read: (query) => (query.isCount ? counted(read, query, counts) : read(query)) };
  }
}

async function counted<Row extends object>(
  read: Read,
  query: Query,
  counts: Map<string, object[]>,
): Promise<Row[]> {
  // Filters may name thousands of kinds.
  const key = createHash('sha256').update(JSON.stringify(query)).digest('base64');
  const known = counts.get(key) as Row[] | undefined;
  if (known !== undefined) return known;
  const rows = await read<Row>(query);
  counts.set(key, rows);
  const [oldest] = counts.keys();
  if (counts.size > mostCounts && oldest !== undefined) counts.delete(oldest);
  return rows;
}
