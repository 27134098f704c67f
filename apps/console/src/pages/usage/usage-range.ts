import { useNavigate, useSearch } from '@tanstack/react-router';
import { dayMs, dayOf } from '../../parts/days.ts';
import type { UsageSearch } from './search.ts';

const rangeDays = { '7d': 7, '30d': 30, '90d': 90 } as const;

/** UTC days, both inclusive. */
export interface Days {
  from: string;
  to: string;
}

export function useUsageSearch(): [UsageSearch, (changes: UsageSearch) => void] {
  const search = useSearch({ from: '/usage' });
  const navigate = useNavigate({ from: '/usage' });
  return [
    search,
    (changes) => void navigate({ search: (before) => ({ ...before, ...changes }), replace: true }),
  ];
}

/** The first and last day of the selected range. */
export function daysOf({ range = '30d', from, to }: UsageSearch, nowMs: number): Days {
  if (from !== undefined && to !== undefined) return { from, to };
  if (range === '12m') return { from: `${monthFrom(dayOf(nowMs), -11)}-01`, to: dayOf(nowMs) };
  return { from: dayOf(nowMs - (rangeDays[range] - 1) * dayMs), to: dayOf(nowMs) };
}

export const lengthOf = ({ from, to }: Days): number =>
  Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / dayMs) + 1);

const maxDayBars = 100;
const maxMonthBars = 60;

/**
 * Lists the days (`2026-03-01`) that have a bar in the chart, with those without runs, or the months (`2026-03`) where
 * days would be too thin to read.
 */
export function barsOf(days: Days): string[] {
  const length = lengthOf(days);
  if (length <= maxDayBars) {
    return Array.from({ length }, (_, at) => dayOf(Date.parse(days.from) + at * dayMs));
  }
  const months = 12 * (year(days.to) - year(days.from)) + month(days.to) - month(days.from) + 1;
  return Array.from({ length: Math.min(months, maxMonthBars) }, (_, at) => monthFrom(days.from, at));
}

const year = (day: string): number => Number(day.slice(0, 4));
const month = (day: string): number => Number(day.slice(5, 7));
const monthFrom = (day: string, months: number): string =>
  new Date(Date.UTC(year(day), month(day) - 1 + months)).toISOString().slice(0, 7);

/** Billing records are kept for 13 months by default. A comparison with a time before that would be wrong. */
const keptMs = 390 * dayMs;

/**
 * As many days before the range, from one time to another. If the range isn't over, they end at the same time of day as
 * now, so that both are equally long. Undefined if their records may be gone.
 */
export function periodBefore(days: Days, nowMs: number): { from: string; until: string } | undefined {
  const span = lengthOf(days) * dayMs;
  const from = Date.parse(days.from) - span;
  const until = Math.min(Date.parse(days.to) + dayMs, nowMs) - span;
  if (until <= from || nowMs - from > keptMs) return undefined;
  return { from: new Date(from).toISOString(), until: new Date(until).toISOString() };
}

/** How many days a day comes after the start of a period. */
export const placeOf = (day: string, { from }: { from: string }): number =>
  Math.round((Date.parse(day) - Date.parse(from)) / dayMs);
