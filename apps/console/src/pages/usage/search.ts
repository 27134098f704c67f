/** Twelve months are calendar months, because a chart of them has a bar for each. */
export const ranges = ['7d', '30d', '90d', '12m'] as const;
type RangeName = (typeof ranges)[number];

/** A dimension by which the table can be grouped, in the API's words. */
export type UsageDimension = 'user' | `tag:${string}`;

export const isDimension = (by: unknown): by is UsageDimension =>
  typeof by === 'string' && /^(?:user|tag:[a-z0-9_.-]{1,32})$/.test(by);

/** The page's state, which is kept in its address. */
export interface UsageSearch {
  range?: RangeName;
  /** UTC days, both inclusive. They take precedence over `range`. */
  from?: string;
  to?: string;
  show?: 'runs';
  by?: 'key' | 'day' | UsageDimension;
}

const day = (value: unknown) =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? value : undefined;

export const usageSearch = ({ range, from, to, show, by }: Record<string, unknown>): UsageSearch => ({
  ...(ranges.some((name) => name === range) && { range: range as RangeName }),
  ...(day(from) && day(to) && { from: day(from), to: day(to) }),
  ...(show === 'runs' && { show }),
  ...((by === 'key' || by === 'day' || isDimension(by)) && { by }),
});
