import { RouterError } from '#errors';
import type { Registry } from '#persistence';
import type { RegistryNodeList } from '#schemas';
import { platformTest } from './demands.js';
import { type NodeAsk, nodeAsk, type Query } from './node-ask.js';
import type { PageCache } from './page-cache.js';

type PageAsk = Omit<NodeAsk, 'latest'>;

interface Asked {
  ask: PageAsk;
  latest: boolean;
  /** The same for all spellings of an ask. */
  key: string;
}

/** How many spellings of queries, and how long ones, are kept with what they ask: to read one costs more than to find its page. */
const mostSpellings = 1000;
const longestSpelling = 500;

/** Pages of nodes as the bytes of an answer. */
export class NodePages {
  private readonly asked = new Map<string, Asked>();

  constructor(
    private readonly registry: Registry,
    private readonly cache: PageCache,
  ) {}

  /** `spelling` is the URL as the caller wrote it. */
  async read(spelling: string, query: Query): Promise<Buffer> {
    const { ask, latest, key } = this.asked.get(spelling) ?? this.reading(spelling, query);
    const make = () => this.make(ask);
    return latest ? this.cache.renew(key, make) : this.cache.get(key, make);
  }

  private reading(spelling: string, query: Query): Asked {
    const { latest, ...ask } = nodeAsk(query);
    const asked = { ask, latest, key: JSON.stringify(ask) };
    if (spelling.length > longestSpelling) return asked;
    const [oldest] = this.asked.keys();
    if (this.asked.size >= mostSpellings && oldest !== undefined) this.asked.delete(oldest);
    this.asked.set(spelling, asked);
    return asked;
  }

  private async make(ask: PageAsk): Promise<Buffer> {
    const { page, limit } = ask;
    const { nodes, total } = await this.page(ask).catch(failed);
    const list: RegistryNodeList = { nodes, page, limit, total, totalPages: Math.ceil(total / limit) };
    return Buffer.from(JSON.stringify(list));
  }

  private async page(ask: PageAsk) {
    const admits = platformTest(ask);
    return this.registry.page({ ...ask, ...(admits && { admits }), offset: (ask.page - 1) * ask.limit });
  }
}

/** The registry's interface knows one failure of ours, the 500. */
function failed(error: unknown): never {
  if (!(error instanceof RouterError)) throw error;
  throw new RouterError('internal_error', 'The registry cannot be read at the moment; please retry.', {
    internal: error.internal ?? error.message,
    cause: error.cause,
  });
}
