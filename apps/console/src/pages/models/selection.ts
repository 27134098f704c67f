import type { ModelEntry } from '../../api/models.ts';

interface Selection {
  words: string;
  modality: string | undefined;
  provider: string | undefined;
}

/** A model with the text that a search looks into. */
interface Listed {
  model: ModelEntry;
  text: string;
}

const collator = new Intl.Collator();

/**
 * The models in the order of the gallery: recently used ones first (`recent` has the latest first), then by title.
 * Sorting thousands of models takes longer than a key press may, so this does not depend on the search.
 */
export function listed(models: readonly ModelEntry[], recent: readonly string[]): Listed[] {
  const place = (id: string) => (recent.includes(id) ? recent.indexOf(id) : recent.length);
  return models
    .map((model) => ({ model, place: place(model.id), name: model.title ?? model.id }))
    .sort((one, other) => one.place - other.place || collator.compare(one.name, other.name))
    .map(({ model }) => {
      const { id, title, description, aliases } = model;
      return { model, text: [id, title, description, ...aliases].join('\n').toLowerCase() };
    });
}

/** The models that match, in the same order. */
export function found(all: readonly Listed[], { words, modality, provider }: Selection): ModelEntry[] {
  const wanted = words.trim().toLowerCase().split(/\s+/);
  return all
    .filter(({ model: { provider: its, output_modalities: outputs }, text }) => {
      if (provider !== undefined && its !== provider) return false;
      if (modality !== undefined && !outputs.some((each) => each === modality)) return false;
      return wanted.every((word) => text.includes(word));
    })
    .map(({ model }) => model);
}

export const providersOf = (models: readonly ModelEntry[]): string[] =>
  [...new Set(models.map(({ provider }) => provider))].sort();
