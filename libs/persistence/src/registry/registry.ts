import type { RegistryNode } from '#schemas';
import type { Database } from '../database.js';
import { cutPage, type Read, totalOf } from './cut.js';
import { listedKinds, type NodeKind, passingKinds } from './kinds.js';
import { type FoundNode, listedNode } from './listed-node.js';
import { nodesQuery, type PageAsk } from './page-query.js';

/** Reads the node registry. */
export class Registry {
  constructor(private readonly database: Database) {}

  /** One page, and how many nodes there are on all of them, at the same moment. */
  async page(ask: PageAsk): Promise<{ nodes: RegistryNode[]; total: number }> {
    return this.database.listAtOnce((read) => readPage(read, ask));
  }
}

export async function readPage(read: Read, ask: PageAsk): Promise<{ nodes: RegistryNode[]; total: number }> {
  const passing = passingKinds(ask, await read<NodeKind>(listedKinds));
  const total = await totalOf(read, ask, passing);
  if (ask.offset >= total) return { nodes: [], total };
  const rows = await read<{ node: FoundNode }>(nodesQuery(await cutPage(read, ask, passing, total)));
  return { nodes: rows.map(({ node }) => listedNode(node)), total };
}
