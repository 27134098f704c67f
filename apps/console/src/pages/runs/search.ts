/** The filters of the runs, which are kept in the address. */
export interface RunsSearch {
  /** The id of a run, or of a call that admitted or joined it. */
  id?: string;
  state?: string;
  error?: string;
  model?: string;
  key?: string;
  /** A tag, such as `project=alpha`. */
  tag?: string;
  user?: string;
  range?: string;
  /** `true` for the runs with a link. */
  shared?: string;
}

export const filterNames = [
  'id',
  'state',
  'error',
  'model',
  'key',
  'tag',
  'user',
  'range',
  'shared',
] as const;

export function runsSearch(search: Record<string, unknown>): RunsSearch {
  return Object.fromEntries(
    filterNames.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );
}
