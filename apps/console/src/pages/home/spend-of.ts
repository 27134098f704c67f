import type { UsageRow } from '../../api/usage.ts';
import { dayMs, dayOf } from '../../parts/days.ts';

interface Sum {
  cents: number;
  runs: number;
}

export interface Spend {
  today: Sum;
  month: Sum;
  /** The last 31 days with today, which cover every month up to today. */
  days: { day: string; cents: number }[];
  /** The mean of the seven days before today. */
  centsPerDay: number;
}

const shownDays = 31;
const paceDays = 7;

export const firstDay = (nowMs: number): string => dayOf(nowMs - (shownDays - 1) * dayMs);

/** Sums of usage by day (UTC). */
export function spendOf(rows: readonly UsageRow[], nowMs: number): Spend {
  const today = dayOf(nowMs);
  const sum = (isCounted: (day: string) => boolean): Sum =>
    rows
      .filter(({ day = '' }) => isCounted(day))
      .reduce(({ cents, runs }, row) => ({ cents: cents + row.cost_cents, runs: runs + row.runs }), {
        cents: 0,
        runs: 0,
      });
  const firstOfPace = dayOf(nowMs - paceDays * dayMs);
  return {
    today: sum((day) => day === today),
    month: sum((day) => day.startsWith(today.slice(0, 7))),
    days: Array.from({ length: shownDays }, (_, at) => {
      const day = dayOf(nowMs - (shownDays - 1 - at) * dayMs);
      return { day, cents: sum((each) => each === day).cents };
    }),
    centsPerDay: sum((day) => day >= firstOfPace && day < today).cents / paceDays,
  };
}
