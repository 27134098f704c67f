import type { Catalog, Model } from '#catalog';
import { RouterError } from '#errors';
import { routerModelSegment, routerProviderSegment } from '#schemas';
import { type Caller, mayRun, maySee } from '../auth/caller.js';

/** The model the caller asked for, if it may see it; what it may not see does not exist for it. */
export function visibleModel(catalog: Catalog, caller: Caller, id: string): Model {
  const model = catalog.find(id);
  if (model !== undefined && maySee(caller, id)) return model;
  throw modelNotFound(catalog, caller, id);
}

/** The model the caller asked for, if it may run it. */
export function runnableModel(catalog: Catalog, caller: Caller, id: string): Model {
  const model = visibleModel(catalog, caller, id);
  if (mayRun(caller, id)) return model;
  throw new RouterError('forbidden', `This workspace may see ${id}, but not run it.`);
}

/** 404 with up to three ids, nearest to the one asked for, that the caller may see. */
export function modelNotFound(catalog: Catalog, caller: Caller, asked: string): RouterError {
  const suggestions = catalog.suggest(asked, (model) => maySee(caller, model.id));
  const hint = suggestions.length === 0 ? '' : ` Did you mean ${alternatives(suggestions)}?`;
  return new RouterError('model_not_found', `There is no such model.${hint}`);
}

/** Segments that no model can have name no model, on every route. */
export const areSegments = (provider: string, model: string): boolean =>
  routerProviderSegment.safeParse(provider).success && routerModelSegment.safeParse(model).success;

function alternatives(ids: readonly string[]): string {
  const [last = '', ...others] = ids.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} or ${last}`;
}
