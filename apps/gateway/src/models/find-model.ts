import { type Catalog, type Model, suggesting } from '#catalog';
import { RouterError } from '#errors';
import { routerModelSegment, routerProviderSegment } from '#schemas';
import { type Caller, mayRun, maySee } from '../auth/caller.js';

/** The path segments that name a model. */
export interface ModelSegments {
  provider: string;
  model: string;
}

/** The model of the path. A model that the caller may not see is treated as unknown. */
export function visibleModel(catalog: Catalog, caller: Caller, { provider, model }: ModelSegments): Model {
  const id = `${provider}/${model}`;
  const found = catalog.find(id);
  if (found !== undefined && maySee(caller, found.id)) return found;
  throw modelNotFound(catalog, caller, id);
}

/** The model of the path, if the caller may run it. */
export function runnableModel(catalog: Catalog, caller: Caller, segments: ModelSegments): Model {
  const model = visibleModel(catalog, caller, segments);
  if (mayRun(caller, model.id)) return model;
  throw new RouterError('forbidden', `This workspace may see ${model.id}, but not run it.`);
}

/** A 404 with up to three ids that the caller may see, those nearest to the given one. */
export function modelNotFound(catalog: Catalog, caller: Caller, id: string): RouterError {
  const suggestions = catalog.suggest(id, (model) => maySee(caller, model.id));
  return new RouterError('model_not_found', `There is no such model.${suggesting(suggestions)}`);
}

/** Whether both segments are well-formed. On every route, malformed ones name no model. */
export const areSegments = ({ provider, model }: ModelSegments): boolean =>
  routerProviderSegment.safeParse(provider).success && routerModelSegment.safeParse(model).success;
