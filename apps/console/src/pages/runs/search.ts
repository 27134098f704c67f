/** The filters of the runs, which are kept in the address. */
export interface RunsSearch {
  state?: string;
  error?: string;
  model?: string;
  key?: string;
  /** A tag, such as `project=alpha`. */
  tag?: string;
  user?: string;
  range?: string;
}

export function runsSearch(search: Record<string, unknown>): RunsSearch {
  const names = ['state', 'error', 'model', 'key', 'tag', 'user', 'range'] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );
}
