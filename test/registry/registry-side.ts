import type { RegistryNode, RegistryNodeList } from '#schemas';
import { readRecord } from '../../apps/admin/src/registry/read-record.js';
import { type NodeRecord, RegistryWriting, type Written } from '#persistence';
import type { DataSource } from 'typeorm';

export type GivenNode = Record<string, unknown> & { id: string };

/** Writes nodes as an import does, without a process for it. */
export const putGiven = (dataSource: DataSource, nodes: readonly GivenNode[]): Promise<Written> =>
  new RegistryWriting(dataSource).prepare(recordsOf(nodes))();

export const recordsOf = (nodes: readonly GivenNode[]): NodeRecord[] =>
  nodes.map((node) => {
    const read = readRecord(node, { whole: false });
    if ('reason' in read) throw new Error(read.reason);
    return read.record;
  });

/** Asks a gateway's registry. */
export class RegistryReader {
  constructor(private readonly url: () => string) {}

  get(query: string = '', init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.url()}/nodes?${query}`, { ...init, signal: AbortSignal.timeout(30_000) });
  }

  async list(query: string = ''): Promise<RegistryNodeList> {
    const answer = await this.get(query);
    const body = await answer.text();
    if (answer.status !== 200) throw new Error(`${query} answers ${answer.status}: ${body}`);
    return JSON.parse(body) as RegistryNodeList;
  }

  async ids(query: string = ''): Promise<(string | undefined)[]> {
    return (await this.list(query)).nodes.map(({ id }) => id);
  }

  /** Every node of every page, walked as clients do. */
  async walk(query = ''): Promise<RegistryNode[]> {
    const nodes: RegistryNode[] = [];
    for (let page = 1, pages = 1; page <= pages; page += 1) {
      const list = await this.list(`${query}&page=${page}`);
      pages = list.totalPages;
      nodes.push(...list.nodes);
    }
    return nodes;
  }
}
