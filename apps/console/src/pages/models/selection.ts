import type { ModelEntry } from '../../api/models.ts';

interface Selection {
  words: string;
  modality: string | undefined;
  provider: string | undefined;
  /** IDs of the models last run in this browser, latest first. */
  recent: readonly string[];
}

/** The models that match: recently used ones first, then by title. */
export function found(models: readonly ModelEntry[], { words, modality, provider, recent }: Selection) {
  const wanted = words.trim().toLowerCase().split(/\s+/);
  const place = (id: string) => (recent.includes(id) ? recent.indexOf(id) : recent.length);
  return models
    .filter(({ provider: its, output_modalities: outputs, ...model }) => {
      if (provider !== undefined && its !== provider) return false;
      if (modality !== undefined && !outputs.some((each) => each === modality)) return false;
      const text = [model.id, model.title, model.description, ...model.aliases].join('\n').toLowerCase();
      return wanted.every((word) => text.includes(word));
    })
    .sort((one, other) => place(one.id) - place(other.id) || nameOf(one).localeCompare(nameOf(other)));
}

export const providersOf = (models: readonly ModelEntry[]): string[] =>
  [...new Set(models.map(({ provider }) => provider))].sort();

const nameOf = ({ title, id }: ModelEntry) => title ?? id;
