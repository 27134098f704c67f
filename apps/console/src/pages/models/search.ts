import { type Task, tasks } from '../../finding/tasks.ts';

/** Output modalities, from which a card takes its drawing. */
export const modalities = ['image', 'video', 'audio', '3d', 'text', 'embedding'] as const;
export type Modality = (typeof modalities)[number];

export const sorts = ['used', 'name', 'price', 'speed', 'newest'] as const;
export type Sort = (typeof sorts)[number];

/** The gallery's filters, which are kept in its address. */
export interface ModelsSearch {
  q?: string;
  task?: Task;
  modality?: Modality;
  provider?: string;
  sort?: Sort;
}

export function modelsSearch({ q, task, modality, provider, sort }: Record<string, unknown>): ModelsSearch {
  return {
    q: typeof q === 'string' && q !== '' ? q : undefined,
    task: tasks.find((each) => each === task),
    modality: modalities.find((each) => each === modality),
    provider: typeof provider === 'string' && provider !== '' ? provider : undefined,
    sort: sorts.find((each) => each === sort),
  };
}
