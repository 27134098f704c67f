import type { ProviderDefinition } from '#providers';
import { hasEnded, type Model, pricedAt } from './model.js';
import type { EndedModel } from './model-row.js';
import { maxSuggestions, nearestIds } from './nearest-ids.js';
import { SearchIndex } from './search-index.js';

type ModelFilter = (model: Model) => boolean;

/** One immutable revision of the catalog. */
export interface Catalog {
  /** A hash of the files from which it was read. */
  readonly revision: string;
  /** Ordered by id. */
  readonly models: readonly Model[];
  readonly providers: readonly ProviderDefinition[];
  readonly ended: readonly EndedModel[];
  /** Finds a model by id or alias, with its price in force. Ended models are not found, listed or suggested. */
  find(name: string): Model | undefined;
  /** The id for an alias, including aliases of ended models. Returns any other text unchanged. */
  idOf(name: string): string;
  /**
   * The first `limit` models after `cursorAfterId` (which may no longer exist) that pass `filter`, and whether more
   * follow. Only models with all `words` in their ids, title or description.
   */
  page(request: { cursorAfterId?: string; limit: number; words?: readonly string[]; filter: ModelFilter }): {
    models: Model[];
    hasMore: boolean;
  };
  /**
   * Up to three ids of visible models: first the model with this alias, or the successor of the requested model,
   * then the nearest ids, of which a joined three-segment id comes first.
   */
  suggest(asked: string, visible: ModelFilter): string[];
}

export function catalogOf(
  unordered: readonly Model[],
  {
    revision = '',
    providers = [],
    ended = [],
    nowMs = Date.now,
  }: Partial<Pick<Catalog, 'revision' | 'providers' | 'ended'>> & { nowMs?: () => number } = {},
): Catalog {
  const models = unordered.toSorted((one, other) => compare(one.id, other.id));
  const byName = new Map(models.flatMap((model) => namesOf(model).map((name) => [name, model])));
  const endedByName = new Map(ended.flatMap((gone) => namesOf(gone).map((name) => [name, gone])));
  const find = (name: string) => {
    const model = byName.get(name);
    return model === undefined || hasEnded(model) ? undefined : pricedAt(model, nowMs());
  };
  let made: SearchIndex | undefined;
  const index = () => (made ??= new SearchIndex(models));
  return Object.freeze<Catalog>({
    revision,
    models: Object.freeze(models),
    providers,
    ended,
    find,
    idOf: (name) => (byName.get(name) ?? endedByName.get(name))?.id ?? name,
    page({ cursorAfterId = '', limit, words = [], filter }) {
      const served: Model[] = [];
      const next = words.length === 0 ? (at: number) => at : index().matching(words);
      for (let at = next(placeAfter(models, cursorAfterId)); at < models.length; at = next(at + 1)) {
        const model = models[at];
        if (model === undefined || hasEnded(model) || !filter(model)) continue;
        if (served.length === limit) return { models: served, hasMore: true };
        served.push(pricedAt(model, nowMs()));
      }
      return { models: served, hasMore: false };
    },
    suggest(asked, visible) {
      const meant = find(asked) ?? find((byName.get(asked) ?? endedByName.get(asked))?.successor ?? '');
      const first = meant !== undefined && visible(meant) ? [meant.id] : [];
      const others = models.filter((model) => !hasEnded(model) && visible(model) && model.id !== meant?.id);
      return [...first, ...nearestIds(asked, others)].slice(0, maxSuggestions);
    },
  });
}

/** The place of the first model whose id comes after this one. */
function placeAfter(models: readonly Model[], id: string): number {
  let [from, to] = [0, models.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((models[middle]?.id ?? '') <= id) from = middle + 1;
    else to = middle;
  }
  return from;
}

const namesOf = ({ id, aliases }: Pick<EndedModel, 'id' | 'aliases'>): string[] => [id, ...aliases];

// Compares code units, like Postgres' "C" collation. The order of a locale would differ between machines.
const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

/** The rows that serve a model, its own first, without ended ones. */
export const serversOf = (catalog: Pick<Catalog, 'find'>, model: Model): Model[] => [
  model,
  ...model.servers.flatMap((id) => catalog.find(id) ?? []),
];
