import { useQuery } from '@tanstack/react-query';
import { usageQuery } from '../../api/usage.ts';
import type { UsageDimension } from './search.ts';
import type { Days } from './usage-range.ts';

const inDays = ({ from, to }: Days) => ({ from, to: `${to}T23:59:59.999Z` });

/** Grouped by day, model and key at once, because the chart, table and export all use the same numbers. */
export function useUsage(days: Days) {
  const query = usageQuery({ group_by: 'day,model,key', ...inDays(days) });
  return useQuery({ ...query, placeholderData: (before) => before });
}

/** Grouped by the end user or the values of a tag. Reads nothing without one of these. */
export function useUsageBy(dimension: UsageDimension | undefined, days: Days) {
  const query = usageQuery({ group_by: dimension ?? 'day', ...inDays(days) });
  return useQuery({ ...query, enabled: dimension !== undefined });
}

/** Groups by day the period with which the shown one is compared. */
export function useUsageBefore(period: { from: string; until: string } | undefined) {
  const { from = '', until = '' } = period ?? {};
  const query = usageQuery({ group_by: 'day', from, to: until });
  return useQuery({ ...query, enabled: period !== undefined });
}
