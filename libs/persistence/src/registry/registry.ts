import type { RegistryNode } from '#schemas';
import { Injectable } from '@nestjs/common';
import { Database } from '../database.js';
import { cutPage, type Read, totalOf } from './cut.js';
import { Findings } from './findings.js';
import { passingKinds } from './kinds.js';
import { type FoundNode, listedNode } from './listed-node.js';
import { nodesQuery, type PageAsk } from './page-query.js';

/** Reads the node registry. */
@Injectable()
export class Registry {
  private readonly findings = new Findings();

  constructor(private readonly database: Database) {}

  /** One page, and how many nodes there are on all of them, at the same moment. */
  async page(ask: PageAsk): Promise<{ nodes: RegistryNode[]; total: number }> {
    return this.database.listAtOnce((read) => readPage(read, ask, this.findings));
  }
}

export async function readPage(
  snapshot: Read,
  ask: PageAsk,
  findings: Findings,
): Promise<{ nodes: RegistryNode[]; total: number }> {
  const { kinds, read } = await findings.in(snapshot);
  const passing = passingKinds(ask, kinds);
  const total = await totalOf(read, ask, passing);
  if (ask.offset >= total) return { nodes: [], total };
  const rows = await read<{ node: FoundNode }>(nodesQuery(await cutPage(read, ask, passing, total)));
  return { nodes: rows.map(({ node }) => listedNode(node)), total };
}
