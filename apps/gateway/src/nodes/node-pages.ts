import { RouterError } from '#errors';
import { SETTINGS } from '#infrastructure';
import { type DatabaseSettings, NodeReader } from '#persistence';
import type { RegistryNodeList } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type NodeQuery, parseNodeQuery } from './node-query.js';
import { NodeReads } from './node-reads.js';
import type { NodeSettings } from './settings.js';
import { platformFilter } from './platform-filter.js';

type NodePageSettings = NodeSettings & Pick<DatabaseSettings, 'DATABASE_REGISTRY_POOL'>;

/** The body of an answer, and the moment that it shows, by `performance.now()`. */
interface CachedPage {
  body: Buffer;
  asOfMs: number;
}

/** What is read, and the address that is the first to ask for it. */
interface Reading {
  query: NodeQuery;
  address: string;
}

/** What an entry takes beside its key and its body, roughly. */
const entryBytes = 200;
/** Parsing a query takes longer than finding its page; a longer URL is parsed each time. */
const maxParsedUrls = 1000;
const maxParsedUrlLength = 500;

/** Pages of nodes as the bytes of an answer. */
@Injectable()
export class NodePages {
  private readonly maxAgeMs: number;
  private readonly parsedUrls = new LRUCache<string, { query: NodeQuery; key: string }>({
    max: maxParsedUrls,
  });
  private readonly pages: LRUCache<string, CachedPage, Reading>;
  private readonly reads: NodeReads;

  constructor(
    private readonly reader: NodeReader,
    @Inject(SETTINGS) settings: NodePageSettings,
  ) {
    this.reads = new NodeReads(settings.REGISTRY_READS_PER_MINUTE, settings.DATABASE_REGISTRY_POOL);
    this.maxAgeMs = settings.REGISTRY_CACHE_SECONDS * 1000;
    this.pages = new LRUCache<string, CachedPage, Reading>({
      maxSize: settings.REGISTRY_CACHE_BYTES,
      sizeCalculation: ({ body }, key) => body.byteLength + 2 * key.length + entryBytes,
      // The clock by which pages tell their age.
      perf: performance,
      // Callers who wait for a page get it, also when a newer one has replaced it meanwhile.
      ignoreFetchAbort: true,
      fetchMethod: async (_key, _stale, { options, context }) => {
        const page = await this.read(context, this.maxAgeMs);
        options.ttl = this.remainingMs(page);
        return page;
      },
    });
  }

  /** Throws `invalid_input` for a parameter of the wrong type. */
  parse(rawUrl: string, parameters: Parameters<typeof parseNodeQuery>[0]): { query: NodeQuery; key: string } {
    const known = this.parsedUrls.get(rawUrl);
    if (known !== undefined) return known;
    const query = parseNodeQuery(parameters);
    const parsed = { query, key: JSON.stringify({ ...query, latest: undefined }) };
    if (rawUrl.length <= maxParsedUrlLength) this.parsedUrls.set(rawUrl, parsed);
    return parsed;
  }

  /** Throws `rate_limited` for an address that reads too much. */
  async page({ query, key }: { query: NodeQuery; key: string }, address: string): Promise<Buffer> {
    const kept = query.latest ? undefined : this.pages.get(key);
    if (kept !== undefined) return kept.body;
    this.reads.count(address);
    if (query.latest) return this.latest({ query, address }, key);
    const page = await this.pages.fetch(key, { context: { query, address } });
    if (page === undefined) throw new Error('A page was neither read nor refused.');
    return page.body;
  }

  /** Reads a page whatever is cached, and caches it for everybody, unless a newer one is there. */
  private async latest(reading: Reading, key: string): Promise<Buffer> {
    const page = await this.read(reading, 0);
    const kept = this.pages.peek(key);
    if (kept === undefined || kept.asOfMs <= page.asOfMs)
      this.pages.set(key, page, { ttl: this.remainingMs(page) });
    return page.body;
  }

  private async read({ query, address }: Reading, maxAgeMs: number): Promise<CachedPage> {
    const { page, limit } = query;
    const wanted = { ...query, accepts: platformFilter(query), offset: (page - 1) * limit, maxAgeMs };
    const { nodes, total, asOfMs } = await this.reads
      .inTurn(address, () => this.reader.page(wanted))
      .catch(failed);
    const list: RegistryNodeList = { nodes, page, limit, total, totalPages: Math.ceil(total / limit) };
    return { body: Buffer.from(JSON.stringify(list)), asOfMs };
  }

  /** A page's age counts from the moment that it shows. Zero would mean that it never expires. */
  private readonly remainingMs = ({ asOfMs }: CachedPage): number =>
    Math.max(Math.floor(asOfMs + this.maxAgeMs - performance.now()), 1);
}

/** The registry's interface knows one failure of ours, the 500. */
function failed(error: unknown): never {
  if (!(error instanceof RouterError)) throw error;
  throw new RouterError('internal_error', 'The registry cannot be read at the moment; please retry.', {
    internal: error.internal ?? error.message,
    cause: error.cause,
  });
}
