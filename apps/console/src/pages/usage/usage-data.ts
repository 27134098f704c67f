import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';
import type { UsageDimension } from './search.ts';
import type { Days } from './usage-range.ts';

/** Grouped by day, model and key at once, because the chart, table and export all use the same numbers. */
export function useUsage({ from, to }: Days) {
  return useQuery({
    queryKey: ['usage', from, to],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v2/usage', {
          params: { query: { group_by: 'day,model,key', from, to: `${to}T23:59:59.999Z` } },
          signal,
        }),
      ),
    placeholderData: (before) => before,
  });
}

/** Grouped by the end user or the values of a tag. Reads nothing without one of these. */
export function useUsageBy(dimension: UsageDimension | undefined, { from, to }: Days) {
  return useQuery({
    queryKey: ['usage', dimension, from, to],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v2/usage', {
          params: { query: { group_by: dimension ?? 'day', from, to: `${to}T23:59:59.999Z` } },
          signal,
        }),
      ),
    enabled: dimension !== undefined,
  });
}

/** Groups by day the period with which the shown one is compared. */
export function useUsageBefore(period: { from: string; until: string } | undefined) {
  const { from = '', until = '' } = period ?? {};
  return useQuery({
    queryKey: ['usage', 'before', from, until],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v2/usage', { params: { query: { group_by: 'day', from, to: until } }, signal })),
    enabled: period !== undefined,
  });
}
