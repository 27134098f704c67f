import { LiveCatalog, type Model, serversOf, visibleProvider } from '#catalog';
import { RouterError } from '#errors';
import { Injectable } from '@nestjs/common';
import { type Caller, mayRun, maySee } from '../auth/caller.js';
import { type ModelSegments, runnableModel } from './find-model.js';
import { ProviderKeys } from './provider-keys.js';

/** A model and the servers that may run it, in order of preference. */
interface ServedModel {
  model: Model;
  servers: [Model, ...Model[]];
}

/** Whether lists show the model: the caller may see and run it, and it has a key. Permissions first, because they are cheaper. */
export const isListed = (servers: Pick<ModelServers, 'isServed'>, caller: Caller, model: Model): boolean =>
  maySee(caller, model.id) && mayRun(caller, model.id) && servers.isServed(caller, model);

/**
 * Finds the servers of a model that a caller may use: it must be entitled to them, and the operator or its workspace must
 * have a key.
 */
@Injectable()
export class ModelServers {
  constructor(
    private readonly catalog: LiveCatalog,
    private readonly keys: ProviderKeys,
  ) {}

  /** Whether any server of the model has a key. */
  isServed(caller: Caller, model: Model): boolean {
    // The usual case, checked first because a list calls this for every model: the model's own server has a key.
    if (this.hasKey(caller, model)) return true;
    return this.allowed(caller, model).some((server) => this.hasKey(caller, server));
  }

  /** Whether the simulator serves the model: the first server that has a key. Lists call this. */
  isSimulated(caller: Caller, model: Model): boolean {
    const server = this.hasKey(caller, model)
      ? model
      : this.allowed(caller, model).find((each) => this.hasKey(caller, each));
    return server !== undefined && this.isSimulatedServer(server);
  }

  /** Whether this server has a key. Lists call this. */
  hasKey(caller: Caller, { provider }: Model): boolean {
    return ownKeyOf(caller, provider) !== undefined || this.keys.has(provider);
  }

  /** Whether the simulator serves the runs of this server. */
  isSimulatedServer({ provider }: Model): boolean {
    return this.keys.isSimulated(provider);
  }

  /** The model of the path, and its servers that have a key. If the caller picks a server, it is the only one. */
  async forRun(caller: Caller, segments: ModelSegments, picked: string | undefined): Promise<ServedModel> {
    const model = runnableModel(this.catalog.current, caller, segments);
    const allowed = this.allowed(caller, model);
    const eligible = allowed.filter(({ id }) => picked === undefined || visibleProvider(id) === picked);
    if (eligible.length === 0) {
      const names = allowed.map(({ id }) => visibleProvider(id)).join(', ');
      throw new RouterError('invalid_input', `model_provider must be one of ${names}.`);
    }
    const keyed = await Promise.all(
      eligible.map(async (server) => this.hasKey(caller, server) || this.keys.hasNow(server.provider)),
    );
    const [first, ...others] = eligible.filter((_, index) => keyed[index]);
    if (first !== undefined) return { model, servers: [first, ...others] };
    const names = eligible.map(({ provider }) => provider).join(', ');
    const text = eligible.length === 1 ? `The provider ${names} is not` : `None of the providers ${names} is`;
    throw new RouterError('not_enabled', `${text} set up on this router.`);
  }

  /**
   * Permission to run a model covers only its own server. Every other server needs its own permission, because its
   * price and data policy differ.
   */
  private allowed(caller: Caller, model: Model): Model[] {
    return serversOf(this.catalog.current, model).filter(
      (server) => server === model || (maySee(caller, server.id) && mayRun(caller, server.id)),
    );
  }
}

/** The version of the workspace's own key that a run at the provider uses. Undefined if the workspace has none. */
export const ownKeyOf = ({ ownKeys }: Caller, provider: string): string | undefined =>
  Object.hasOwn(ownKeys, provider) ? ownKeys[provider] : undefined;
