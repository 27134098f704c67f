import type { UsageRow } from '../../api/usage.ts';

export type Measure = 'cost_cents' | 'runs';

export interface UsageSum {
  name: string;
  runs: number;
  succeeded: number;
  cost_cents: number;
}

/** Totals by name, most expensive first. */
export function sums(rows: readonly UsageRow[], nameOf: (row: UsageRow) => string): UsageSum[] {
  const byName = new Map<string, UsageSum>();
  for (const row of rows) {
    const name = nameOf(row);
    const sum = byName.get(name) ?? { name, runs: 0, succeeded: 0, cost_cents: 0 };
    sum.runs += row.runs;
    sum.succeeded += row.succeeded;
    sum.cost_cents += row.cost_cents;
    byName.set(name, sum);
  }
  return [...byName.values()].sort(
    (one, other) => other.cost_cents - one.cost_cents || other.runs - one.runs,
  );
}

const percent = new Intl.NumberFormat('en-US', {
  style: 'percent',
  maximumFractionDigits: 0,
  signDisplay: 'exceptZero',
});

/** `+12%`. Undefined if there was nothing before. */
export const changeOf = (now: number, before: number): string | undefined =>
  before === 0 ? undefined : percent.format(now / before - 1);

export const shareOf = ({ runs, succeeded }: { runs: number; succeeded: number }): string =>
  runs === 0 ? '–' : `${((100 * succeeded) / runs).toFixed(1)}%`;
