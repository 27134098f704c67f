import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../../api/client.ts';
import type { UsageDimension } from './usage-range.ts';
import type { components } from '../../api/openapi.d.ts';

type Usage = components['schemas']['RouterUsageResponse'];
export type UsageRow = Usage['data'][number];
export type Measure = 'cost_cents' | 'runs';

/** Grouped by day, model and key at once, because the chart, table and export all use the same numbers. */
export function useUsage({ from, to }: { from: string; to: string }) {
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
export function useUsageBy(
  dimension: UsageDimension | undefined,
  { from, to }: { from: string; to: string },
) {
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

export const shareOf = ({ runs, succeeded }: { runs: number; succeeded: number }): string =>
  runs === 0 ? '–' : `${((100 * succeeded) / runs).toFixed(1)}%`;
