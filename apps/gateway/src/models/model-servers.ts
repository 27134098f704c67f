import { LiveCatalog, type Model, serversOf, visibleProvider } from '#catalog';
import { RouterError } from '#errors';
import { Injectable } from '@nestjs/common';
import { type Caller, mayRun, maySee } from '../auth/caller.js';
import { type ModelSegments, runnableModel } from './find-model.js';
import { ProviderKeys } from './provider-keys.js';

/** A model and who may serve a run of it, in the order in which they are tried. */
interface ServedModel {
  model: Model;
  servers: [Model, ...Model[]];
}

/** Which of a model's servers a caller may use: those that it is entitled to and that have a key. */
@Injectable()
export class ModelServers {
  constructor(
    private readonly catalog: LiveCatalog,
    private readonly keys: ProviderKeys,
  ) {}

  /** For a list: whether some server has a key. */
  isServed(caller: Caller, model: Model): boolean {
    // Most models have no other server than their own, and a list asks this of each of them.
    if (this.keys.has(model.provider)) return true;
    return this.allowed(caller, model).some(({ provider }) => this.keys.has(provider));
  }

  /** The model of the path for a run. A server that the caller picks is the only one; otherwise the first with a key serves. */
  async forRun(caller: Caller, segments: ModelSegments, picked: string | undefined): Promise<ServedModel> {
    const model = runnableModel(this.catalog.current, caller, segments);
    const allowed = this.allowed(caller, model);
    const asked = allowed.filter(({ id }) => picked === undefined || visibleProvider(id) === picked);
    if (asked.length === 0) {
      const names = allowed.map(({ id }) => visibleProvider(id)).join(', ');
      throw new RouterError('invalid_input', `model_provider must be one of ${names}.`);
    }
    const keyed = await Promise.all(asked.map(({ provider }) => this.keys.hasNow(provider)));
    const [first, ...others] = asked.filter((_, index) => keyed[index]);
    if (first !== undefined) return { model, servers: [first, ...others] };
    const names = asked.map(({ provider }) => provider).join(', ');
    const text = asked.length === 1 ? `The provider ${names} is not` : `None of the providers ${names} is`;
    throw new RouterError('not_enabled', `${text} set up on this router.`);
  }

  /** That a model may be run includes its own server alone: another one costs and keeps what is its own. */
  private allowed(caller: Caller, model: Model): Model[] {
    return serversOf(this.catalog.current, model).filter(
      (server) => server === model || (maySee(caller, server.id) && mayRun(caller, server.id)),
    );
  }
}
