/** What the gallery shows, as it stands in its address. */
interface ModelsSearch {
  q?: string;
  modality?: string;
  provider?: string;
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

export const modelsSearch = ({ q, modality, provider }: Record<string, unknown>): ModelsSearch => ({
  q: text(q),
  modality: text(modality),
  provider: text(provider),
});
