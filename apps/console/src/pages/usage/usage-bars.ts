import type { UsageRow } from '../../api/usage.ts';
import { texts } from '../../texts/index.ts';
import { type Measure, sums } from './usage-sums.ts';
import { barsOf, type Days, placeOf } from './usage-range.ts';

export interface UsageBar {
  /** The day (`2026-03-01`) or the month (`2026-03`). */
  start: string;
  values: Record<string, number>;
  /** The same day of the period before. */
  before?: number;
}

interface UsageBars {
  unit: 'day' | 'month';
  /** The models with a colour of their own, largest first; then the others. */
  names: string[];
  bars: UsageBar[];
  /** The height of the highest bar. */
  highest: number;
}

/** The bars of the chart, stacked by model. The period before is left out of months, because they differ in length. */
export function usageBars(
  rows: readonly UsageRow[],
  days: Days,
  { measure, maxModels }: { measure: Measure; maxModels: number },
  before?: { rows: readonly UsageRow[]; from: string },
): UsageBars {
  const ranked = sums(rows, ({ model = '' }) => model).sort((one, other) => other[measure] - one[measure]);
  const own = new Set(ranked.slice(0, maxModels).map(({ name }) => name));
  const names = [...own, ...(ranked.length > own.size ? [texts.usage.others] : [])];
  const bars = barsOf(days).map((start): UsageBar => ({ start, values: {} }));
  const unit = bars[0]?.start.length === 7 ? 'month' : 'day';
  const byStart = new Map(bars.map((bar) => [bar.start, bar]));
  for (const { day = '', model = '', ...row } of rows) {
    const values = byStart.get(unit === 'day' ? day : day.slice(0, 7))?.values;
    const name = own.has(model) ? model : texts.usage.others;
    if (values) values[name] = (values[name] ?? 0) + row[measure];
  }
  if (unit === 'day' && before !== undefined && before.rows.length > 0) {
    for (const bar of bars) bar.before = 0;
    for (const row of before.rows) {
      const bar = bars[placeOf(row.day ?? '', before)];
      if (bar?.before !== undefined) bar.before += row[measure];
    }
  }
  const heights = bars.map(({ values }) => Object.values(values).reduce((sum, value) => sum + value, 0));
  return { unit, names, bars, highest: Math.max(0, ...heights) };
}
