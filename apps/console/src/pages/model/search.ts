export const tabs = ['code', 'schema', 'runs', 'about'] as const;
export type Tab = (typeof tabs)[number];

/** The model page's state, which is kept in its address. */
interface ModelSearch {
  /** The run shown on the right. */
  run?: string;
  /** The run whose input the form starts with. */
  from?: string;
  /** The token of the sample shown on the right, unless a run is shown. */
  sample?: string;
  tab?: Tab;
  view?: 'json';
}

const id = (value: unknown) =>
  typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value) ? value : undefined;

export const modelSearch = ({ run, from, sample, tab, view }: Record<string, unknown>): ModelSearch => ({
  run: id(run),
  from: id(from),
  sample: typeof sample === 'string' && /^[\w-]{75}$/.test(sample) ? sample : undefined,
  tab: tabs.find((each) => each === tab),
  view: view === 'json' ? 'json' : undefined,
});
