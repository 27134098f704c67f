import { type InfiniteData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import type { components } from '../../api/openapi.d.ts';

export type Run = components['schemas']['RouterRequest'];
type RunPage = components['schemas']['RouterRequestListResponse'];

/** The API's query parameters for runs. */
export interface RunQuery {
  request_id?: string;
  status?: Run['status'];
  outcome?: NonNullable<Run['outcome']>;
  error_type?: NonNullable<Run['error_type']>;
  model?: string;
  key?: string;
  tag?: string;
  user?: string;
  shared?: 'true';
  from?: string;
  to?: string;
}

const pageSize = 100;
const pollMs = 2_500;

export const readRuns = (query: RunQuery & { cursor?: string }, signal: AbortSignal): Promise<RunPage> =>
  bodyOf(api.GET('/v2/requests', { params: { query: { ...query, limit: pageSize } }, signal }));

/** The matching runs, newest first. Loads further pages on scroll, and polls the newest page every few seconds. */
export function useRuns(query: RunQuery) {
  const pages = useInfiniteQuery<
    RunPage,
    Error,
    InfiniteData<RunPage>,
    readonly unknown[],
    string | undefined
  >({
    queryKey: ['runs', query],
    queryFn: ({ pageParam, signal }) =>
      readRuns(pageParam === undefined ? query : { ...query, cursor: pageParam }, signal),
    initialPageParam: undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    staleTime: Infinity,
  });
  const newest = useQuery({
    queryKey: ['runs', 'newest', query],
    queryFn: ({ signal }) => readRuns(query, signal),
    refetchInterval: pollMs,
    enabled: pages.isSuccess,
  });
  const runs = useMemo(
    () => merged(newest.data?.data ?? [], pages.data?.pages.flatMap(({ data }) => data) ?? []),
    [newest.data, pages.data],
  );
  return { ...pages, runs };
}

/** Runs from the newest page replace earlier versions of themselves. */
function merged(newest: Run[], read: Run[]): Run[] {
  const oldest = newest.at(-1)?.request_id;
  if (oldest === undefined) return read;
  return [...newest, ...read.filter(({ request_id }) => request_id < oldest)];
}
