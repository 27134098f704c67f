import type { Budget } from '../../api/budgets.ts';

/** A limit on the spend of the whole workspace, for each bar of the chart. */
interface BudgetLine {
  name: string;
  limitCents: number;
  /** Where its days begin, if elsewhere than those of the chart. */
  timeZone: string | undefined;
}

/** The budgets that limit what a bar shows: of all runs, per day for days and per month for months. Without raises, which end. */
export const linesOf = (budgets: readonly Budget[], unit: 'day' | 'month'): BudgetLine[] =>
  budgets
    .filter(({ scope, window }) => scope === 'workspace' && window === unit)
    .map(({ name, limit_cents: limitCents, time_zone: zone }) => ({
      name,
      limitCents,
      timeZone: zone === 'UTC' ? undefined : zone,
    }));

/** A limit that is much higher than all bars would flatten them. */
export const isInSight = ({ limitCents }: BudgetLine, highestBarCents: number): boolean =>
  limitCents <= 3 * highestBarCents;
