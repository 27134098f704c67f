import { useNavigate, useSearch } from '@tanstack/react-router';
import { texts } from '../../texts/index.ts';
import { filterNames, type RunsSearch } from './search.ts';
import type { Run, RunQuery } from './use-runs.ts';

const rangesMs = {
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  month: 30 * 86_400_000,
} as const;

type RangeName = keyof typeof rangesMs;

/** The filters, which are kept in the address, and a function that changes some of them. */
export function useRunFilters(): [RunsSearch, (changes: Partial<RunsSearch>) => void] {
  const filters = useSearch({ from: '/runs' });
  const navigate = useNavigate({ from: '/runs' });
  const change = (changes: Partial<RunsSearch>) =>
    void navigate({ replace: true, search: (before) => ({ ...before, ...changes }) });
  return [filters, change];
}

/** The filter's states: the queue status of live runs and the outcome of completed ones. */
export const states = ['IN_QUEUE', 'IN_PROGRESS', 'succeeded', 'failed', 'cancelled'] as const;
const isOutcome = (state: string): state is NonNullable<Run['outcome']> => !state.startsWith('IN_');

/** Rounds the range down to the minute, so that the same filter gives the same query for a while. */
export function runQueryOf(
  { id, state, error, model, key, tag, user, range, shared }: RunsSearch,
  nowMs: number,
): RunQuery {
  const ms = rangesMs[range as RangeName] as number | undefined;
  return {
    ...(id && { request_id: id }),
    ...(state && (isOutcome(state) ? { outcome: state } : { status: state as Run['status'] })),
    ...(error && { error_type: error as NonNullable<RunQuery['error_type']> }),
    ...(model && { model }),
    ...(key && { key }),
    ...(tag && { tag }),
    ...(user && { user }),
    ...(shared && { shared: 'true' as const }),
    ...(ms !== undefined && { from: new Date(Math.floor((nowMs - ms) / 60_000) * 60_000).toISOString() }),
  };
}

export const noFilters: Partial<RunsSearch> = Object.fromEntries(
  filterNames.map((name) => [name, undefined]),
);

export const isFiltered = (filters: RunsSearch): boolean =>
  Object.values(filters).some((value) => value !== undefined && value !== '');

export const rangeOptions = Object.keys(rangesMs).map((value) => ({
  value,
  label: texts.runs.ranges[value as RangeName],
}));
