import { useNavigate, useSearch } from '@tanstack/react-router';

export const rangeDays = { '7d': 7, '30d': 30, '90d': 90, '12m': 365 } as const;
export type RangeName = keyof typeof rangeDays;

/** A dimension by which the table can be grouped, in the API's words. */
export type UsageDimension = 'user' | `tag:${string}`;

export const isDimension = (by: unknown): by is UsageDimension =>
  typeof by === 'string' && /^(?:user|tag:[a-z0-9_.-]{1,32})$/.test(by);

/** The page's state, which is kept in its address. */
interface UsageSearch {
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
  ...(typeof range === 'string' && range in rangeDays && { range: range as RangeName }),
  ...(day(from) && day(to) && { from: day(from), to: day(to) }),
  ...(show === 'runs' && { show }),
  ...((by === 'key' || by === 'day' || isDimension(by)) && { by }),
});

export function useUsageSearch(): [UsageSearch, (changes: UsageSearch) => void] {
  const search = useSearch({ from: '/usage' });
  const navigate = useNavigate({ from: '/usage' });
  return [
    search,
    (changes) => void navigate({ search: (before) => ({ ...before, ...changes }), replace: true }),
  ];
}

const dayMs = 86_400_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The first and last day of the selected range. */
export function daysOf(
  { range = '30d', from, to }: UsageSearch,
  nowMs: number,
): { from: string; to: string } {
  if (from !== undefined && to !== undefined) return { from, to };
  return { from: dayOf(nowMs - (rangeDays[range] - 1) * dayMs), to: dayOf(nowMs) };
}

/** Every day of the range, including days without runs; at most 400. */
export function everyDay({ from, to }: { from: string; to: string }): string[] {
  const days = Math.min(400, Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1);
  return Array.from({ length: Math.max(0, days) }, (_, at) => dayOf(Date.parse(from) + at * dayMs));
}
