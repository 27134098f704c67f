/** The filters of the runs, which are kept in the address. */
export interface RunsSearch {
  state?: string;
  error?: string;
  model?: string;
  key?: string;
  range?: string;
}

export function runsSearch(search: Record<string, unknown>): RunsSearch {
  const names = ['state', 'error', 'model', 'key', 'range'] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );
}
