import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { type DatabaseSettings, NodeReader } from '#persistence';
import type { RegistryNodeList } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { NodeQuery } from './node-query.js';
import { NodeReads } from './node-reads.js';
import type { NodeSettings } from './settings.js';
import { platformFilter } from './platform-filter.js';

/** A query, and the first address that sent it. */
interface Reading {
  query: NodeQuery;
  address: string;
}

/** Approximate size of an entry without its key and its body. */
const entryBytes = 200;

/** Reads pages of nodes, and caches them as the bytes of an answer. */
@Injectable()
export class NodePages {
  private readonly pages: LRUCache<string, Buffer, Reading>;
  private readonly reads: NodeReads;

  constructor(
    private readonly reader: NodeReader,
    @Inject(SETTINGS) settings: NodeSettings & Pick<DatabaseSettings, 'DATABASE_REGISTRY_POOL'>,
  ) {
    this.reads = new NodeReads(settings.REGISTRY_READS_PER_MINUTE, settings.DATABASE_REGISTRY_POOL);
    const maxAgeMs = settings.REGISTRY_CACHE_SECONDS * 1000;
    this.pages = new LRUCache<string, Buffer, Reading>({
      maxSize: settings.REGISTRY_CACHE_BYTES,
      sizeCalculation: (body, key) => body.byteLength + 2 * key.length + entryBytes,
      // The same clock as `asOfMs`.
      perf: performance,
      // Callers that wait for a page get it, even if the cache has evicted it meanwhile.
      ignoreFetchAbort: true,
      fetchMethod: async (_key, _stale, { options, context }) => {
        const { body, asOfMs } = await this.read(context, maxAgeMs);
        // A page's age counts from the moment that it shows. A TTL of 0 would mean that it never expires.
        options.ttl = Math.max(Math.floor(asOfMs + maxAgeMs - performance.now()), 1);
        return body;
      },
    });
  }

  /** Rejects with `rate_limited` for an address that reads too much. */
  async page(query: NodeQuery, address: string): Promise<Buffer> {
    const reading = { query, address };
    if (query.latest) return (await this.read(reading, 0)).body;
    return this.pages.forceFetch(JSON.stringify(query), { context: reading });
  }

  /** `asOfMs` is the moment that the page shows, by `performance.now()`. */
  private async read({ query, address }: Reading, maxAgeMs: number) {
    const { page, limit, sort } = query;
    const wanted = {
      nodeIds: query.node_id,
      changedAfter: query.timestamp,
      includeBanned: query.include_banned,
      accepts: platformFilter(query),
      sort,
      offset: (page - 1) * limit,
      limit,
      maxAgeMs,
    };
    const { nodes, total, asOfMs } = await this.reads.take(address, () =>
      this.reader.page(wanted).catch(failed),
    );
    const list: RegistryNodeList = { nodes, page, limit, total, totalPages: Math.ceil(total / limit) };
    return { body: Buffer.from(JSON.stringify(list)), asOfMs };
  }
}

/** The registry's interface defines a single server failure, the 500. */
function failed(error: unknown): never {
  if (!(error instanceof RouterError)) throw error;
  throw new RouterError('internal_error', 'The registry cannot be read at the moment; retry later.', {
    internal: error.internal ?? error.message,
    cause: error.cause,
  });
}
