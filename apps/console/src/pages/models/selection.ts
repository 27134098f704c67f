import type { ModelEntry } from '../../api/models.ts';
import { type Searchable, searchable, searched } from '../../finding/find.ts';
import { displayPrice } from './price-from.ts';
import type { Sort } from './search.ts';
import type { Task } from '../../finding/tasks.ts';

interface Selection {
  words: string;
  task: Task | undefined;
  modality: string | undefined;
  provider: string | undefined;
}

const collator = new Intl.Collator();

/** IDs that come first: those that the user pinned, then those used last. */
interface Preferred {
  pinned: readonly string[];
  recent: readonly string[];
}

/**
 * The models in the order of the gallery: pinned ones first, then by use (recently used here, then everywhere), name,
 * price, speed or age. Sorting thousands of models takes longer than a key press may, so this does not depend on the
 * search.
 */
export function listed(
  models: readonly ModelEntry[],
  { pinned, recent }: Preferred,
  sort: Sort,
): Searchable[] {
  const order = models.map((model) => {
    return {
      model,
      keys: [placeIn(pinned, model.id), ...keysOf(model, sort, recent)],
      name: model.title ?? model.id,
    };
  });
  order.sort((one, other) => {
    for (const [place, key] of one.keys.entries()) {
      const difference = key - (other.keys[place] ?? 0);
      if (difference !== 0) return difference;
    }
    return collator.compare(one.name, other.name);
  });
  return searchable(order.map(({ model }) => model));
}

/** The numbers that sort a model, before its name does. Models without a figure or a date come last. */
function keysOf({ id, price, measured, added }: ModelEntry, sort: Sort, recent: readonly string[]): number[] {
  switch (sort) {
    case 'used':
      return [placeIn(recent, id), -(measured?.runs ?? 0)];
    case 'name':
      return [];
    case 'price': {
      const { group, usd } = displayPrice(price);
      return [group, usd];
    }
    case 'speed':
      return [measured?.median_seconds ?? Number.MAX_VALUE];
    case 'newest':
      return [added === undefined ? 0 : -Date.parse(added)];
  }
}

/** The models that match, best first. */
export function found(all: readonly Searchable[], selection: Selection): ModelEntry[] {
  const { words, task, modality, provider } = selection;
  return searched(all, words)
    .filter(({ model, tasks }) => {
      if (provider !== undefined && model.provider !== provider) return false;
      if (modality !== undefined && !model.output_modalities.some((each) => each === modality)) return false;
      return task === undefined || tasks.includes(task);
    })
    .map(({ model }) => model);
}

const placeIn = (ids: readonly string[], id: string): number =>
  ids.includes(id) ? ids.indexOf(id) : ids.length;

export const providersOf = (models: readonly ModelEntry[]): string[] =>
  [...new Set(models.map(({ provider }) => provider))].sort();
