import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api, bodyOf } from './client.ts';
import type { components } from './openapi.d.ts';

export type ModelEntry = components['schemas']['RouterModelFullEntry'];
type Page = components['schemas']['RouterModelFullListResponse'];

/** Every model the caller can run, in full. Pages load one after another, so the first models are available early. */
export function useModels() {
  const query = useInfiniteQuery(modelsQuery);
  const { data: models = [], hasNextPage, isFetchingNextPage, error, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && error === null) void fetchNextPage({ cancelRefetch: false });
  }, [hasNextPage, isFetchingNextPage, error, fetchNextPage]);
  return { models, query };
}

const modelsQuery = infiniteQueryOptions({
  queryKey: ['models'],
  queryFn: ({ pageParam, signal }) =>
    bodyOf(
      api.GET('/v2/models', {
        params: { query: { view: 'full', limit: 100, ...(pageParam && { cursor: pageParam }) } },
        signal,
      }),
    ) as Promise<Page>,
  initialPageParam: '',
  getNextPageParam: ({ next_cursor }) => next_cursor,
  select: ({ pages }) => pages.flatMap(({ data }) => data),
  staleTime: 5 * 60_000,
});
