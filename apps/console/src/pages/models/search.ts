/** Output modalities, in the order of the filter. */
export const modalities = ['image', 'video', 'audio', '3d', 'text', 'embedding'] as const;
export type Modality = (typeof modalities)[number];

/** The gallery's filters, which are kept in its address. */
interface ModelsSearch {
  q?: string;
  modality?: Modality;
  provider?: string;
}

export function modelsSearch({ q, modality, provider }: Record<string, unknown>): ModelsSearch {
  return {
    q: typeof q === 'string' && q !== '' ? q : undefined,
    modality: modalities.find((each) => each === modality),
    provider: typeof provider === 'string' && provider !== '' ? provider : undefined,
  };
}
