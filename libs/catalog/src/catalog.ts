import type { ProviderDefinition } from '#providers';
import { hasEnded } from './lifecycle.js';
import type { Model } from './model.js';
import { nearestIds } from './nearest-ids.js';

export type ModelFilter = (model: Model) => boolean;

/** One immutable revision of what can be run. */
export interface Catalog {
  /** Which files it was read from, as a hash. */
  readonly revision: string;
  /** Ordered by id. */
  readonly models: readonly Model[];
  readonly providers: readonly ProviderDefinition[];
  /** The successors of models that are gone, by their ids. */
  readonly ended: ReadonlyMap<string, string | undefined>;
  /** One whose end has come is not found, nor on a page, nor suggested. */
  find(id: string): Model | undefined;
  /**
   * The first `limit` models behind `cursorAfterId` (which need not exist any more) that pass `filter`, and
   * whether more of them follow.
   */
  page(request: { cursorAfterId?: string; limit: number; filter: ModelFilter }): {
    models: Model[];
    hasMore: boolean;
  };
  /**
   * Up to three ids of visible models: the successor of what was asked for, then those nearest to it, a joined
   * three-segment id first.
   */
  suggest(asked: string, visible: ModelFilter): string[];
}

export function catalogOf(
  unordered: readonly Model[],
  {
    revision = '',
    providers = [],
    ended = new Map(),
  }: Partial<Pick<Catalog, 'revision' | 'providers' | 'ended'>> = {},
): Catalog {
  const models = unordered.toSorted((one, other) => compare(one.id, other.id));
  const byId = new Map(models.map((model) => [model.id, model]));
  const find = (id: string) => {
    const model = byId.get(id);
    return model === undefined || hasEnded(model) ? undefined : model;
  };
  return Object.freeze({
    revision,
    models: Object.freeze(models),
    providers,
    ended,
    find,
    page({ cursorAfterId, limit, filter }: { cursorAfterId?: string; limit: number; filter: ModelFilter }) {
      const served: Model[] = [];
      for (let at = firstBehind(models, cursorAfterId); at < models.length; at += 1) {
        const model = models[at];
        if (model === undefined || hasEnded(model) || !filter(model)) continue;
        if (served.length === limit) return { models: served, hasMore: true };
        served.push(model);
      }
      return { models: served, hasMore: false };
    },
    suggest(asked: string, visible: ModelFilter) {
      const successor = find(byId.get(asked)?.successor ?? ended.get(asked) ?? '');
      const first = successor !== undefined && visible(successor) ? [successor.id] : [];
      const others = models.filter((model) => !hasEnded(model) && visible(model) && model !== successor);
      const ids = others.map(({ id }) => id);
      return [...first, ...nearestIds(asked, ids)].slice(0, maxSuggestions);
    },
  });
}

const maxSuggestions = 3;

// By code unit, as Postgres' "C" collation orders ASCII: a locale's order would differ between machines.
const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

function firstBehind(models: readonly Model[], id: string | undefined): number {
  if (id === undefined) return 0;
  let low = 0;
  let high = models.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((models[middle]?.id ?? '') <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
