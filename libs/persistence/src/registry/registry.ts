import type { RegistryNode } from '#schemas';
import type { Database } from '../database.js';
import { type FoundNode, listedNode } from './listed-node.js';
import { cutPage, type Read } from './cut.js';
import { type DemandKind, nodesQuery, type PageAsk, totalQuery } from './page-query.js';

/** A list of systems or accelerators, or, alone or not at all, a range of versions. */
export interface Demand {
  mark: string;
  kind: DemandKind;
  demands: string[];
}

/** Reads the node registry. */
export class Registry {
  constructor(private readonly database: Database) {}

  /** The distinct demands of nodes, of the given kinds. */
  async demands(kinds: readonly DemandKind[]): Promise<Demand[]> {
    return this.database.list<Demand>({
      text: 'SELECT mark, kind, demands FROM node_demand WHERE kind = ANY ($1::text[])',
      values: [kinds],
    });
  }

  /** One page, and how many nodes there are on all of them, at the same moment. */
  async page(ask: PageAsk): Promise<{ nodes: RegistryNode[]; total: number }> {
    return this.database.listAtOnce((read) => readPage(read, ask));
  }
}

export async function readPage(read: Read, ask: PageAsk): Promise<{ nodes: RegistryNode[]; total: number }> {
  const [counted] = await read<{ total: number }>(totalQuery(ask));
  const total = counted?.total ?? 0;
  if (ask.offset >= total) return { nodes: [], total };
  const rows = await read<{ node: FoundNode }>(nodesQuery(await cutPage(read, ask, total)));
  return { nodes: rows.map(({ node }) => listedNode(node)), total };
}
