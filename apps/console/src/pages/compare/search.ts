/** The models and runs of a comparison, as lists with commas. They are kept in the address. */
export interface CompareSearch {
  models?: string;
  /** IDs. With models, each belongs to the model at its place, and one that wasn't run has an empty place. */
  runs?: string;
}

/** As many as fit side by side. */
export const maxCompared = 4;

const model = /^[\w.-]+\/[\w.-]+$/;
const run = /^[0-9a-f-]{36}$/;

export function compareSearch({ models, runs }: Record<string, unknown>): CompareSearch {
  const names = [...new Set(listOf(models).filter((each) => model.test(each)))].slice(0, maxCompared);
  const ids = listOf(runs)
    .map((each) => (run.test(each) ? each : ''))
    .slice(0, maxCompared);
  return {
    ...(names.length > 0 && { models: names.join(',') }),
    ...(ids.some((each) => each !== '') && { runs: ids.join(',') }),
  };
}

export const listOf = (value: unknown): string[] =>
  typeof value === 'string' && value !== '' ? value.split(',') : [];

/** The place of the draft of a comparison that begins with this model. */
export const comparisonDraft = (model: string): string => `compare ${model}`;
