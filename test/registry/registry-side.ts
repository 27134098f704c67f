import { afterAll, beforeAll } from '@jest/globals';
import type { RegistryNode, RegistryNodeList } from '#schemas';
import { type Database, NodeReader, type NodeRecord, NodeRepository, type Written } from '#persistence';
import type { DataSource } from 'typeorm';
import { readRecord } from '../../apps/admin/src/registry/read-record.js';
import { NodePages } from '../../apps/gateway/src/nodes/node-pages.js';
import { parseNodeQuery } from '../../apps/gateway/src/nodes/node-query.js';
import { createDatabase, type TestDatabase } from '../harness/index.js';
import { operatorDatabase } from '../harness/long-timeouts.js';

export type GivenNode = Record<string, unknown> & { id: string };

/** Writes nodes as an import does, within this process. */
export const putGiven = (dataSource: DataSource, nodes: readonly GivenNode[]): Promise<Written> =>
  new NodeRepository(dataSource).put(recordsOf(nodes));

export const recordsOf = (nodes: readonly GivenNode[]): NodeRecord[] =>
  nodes.map((node) => {
    const read = readRecord(node, { whole: false });
    if ('reason' in read) throw new Error(read.reason);
    return read.record;
  });

/** The pages of a gateway's registry without the gateway; the route's specs cover how it reads a URL. */
export class RegistryReader {
  private readonly pages: NodePages;

  constructor(database: Database) {
    this.pages = new NodePages(new NodeReader(database), {
      REGISTRY_CACHE_SECONDS: 60,
      REGISTRY_CACHE_BYTES: 64 * 1024 * 1024,
      REGISTRY_READS_PER_MINUTE: 1_000_000,
      DATABASE_REGISTRY_POOL: 2,
    });
  }

  /** The body of an answer. */
  async read(query: string): Promise<Buffer> {
    return this.pages.page(parseNodeQuery(parsed(query)), 'here');
  }

  async list(query = ''): Promise<RegistryNodeList> {
    return JSON.parse((await this.read(query)).toString()) as RegistryNodeList;
  }

  async ids(query = ''): Promise<(string | undefined)[]> {
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

/** The query as the framework parses it: a repeated parameter is an array. */
function parsed(query: string): Record<string, string | string[]> {
  const parameters = new URLSearchParams(query);
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const [first = '', ...more] = parameters.getAll(name);
      return [name, more.length === 0 ? first : [first, ...more]];
    }),
  );
}

interface TestRegistry {
  databaseUrl: string;
  database: Database;
  dataSource: DataSource;
  reader: RegistryReader;
}

/**
 * A registry for this file only, because a database has just one. The file calls `failOnLeftovers` at its end.
 */
export function registryForFile(): () => TestRegistry {
  let testDatabase: TestDatabase;
  let registry: TestRegistry;
  beforeAll(async () => {
    testDatabase = await createDatabase();
    const database = operatorDatabase(testDatabase.url);
    registry = {
      databaseUrl: testDatabase.url,
      database,
      dataSource: await database.dataSource(),
      reader: new RegistryReader(database),
    };
  });
  afterAll(async () => {
    await registry.database.close();
    await testDatabase.drop();
  });
  return () => registry;
}
