import { RouterError } from '#errors';
import type { Registry } from '#persistence';
import type { RegistryNodeList } from '#schemas';
import { platformTest } from './demands.js';
import type { NodeAsk } from './node-ask.js';
import type { PageCache } from './page-cache.js';

/** Pages of nodes as the bytes of an answer. */
export class NodePages {
  constructor(
    private readonly registry: Registry,
    private readonly cache: PageCache,
  ) {}

  async read({ latest, ...ask }: NodeAsk): Promise<Buffer> {
    const key = JSON.stringify(ask);
    const make = () => this.make(ask);
    return latest ? this.cache.renew(key, make) : this.cache.get(key, make);
  }

  private async make(ask: Omit<NodeAsk, 'latest'>): Promise<Buffer> {
    const { page, limit } = ask;
    const { nodes, total } = await this.page(ask).catch(failed);
    const list: RegistryNodeList = { nodes, page, limit, total, totalPages: Math.ceil(total / limit) };
    return Buffer.from(JSON.stringify(list));
  }

  private async page(ask: Omit<NodeAsk, 'latest'>) {
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
