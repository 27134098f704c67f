import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';
import type { components, operations } from './openapi.d.ts';

export type ListedRun = components['schemas']['RouterRequest'];
type RunListQuery = NonNullable<operations['v2ListRequests']['parameters']['query']>;

/** The newest runs that match, polled. */
export const runListQuery = (query: RunListQuery, pollMs: number) =>
  queryOptions({
    queryKey: ['runs', 'list', query],
    queryFn: ({ signal }) => bodyOf(api.GET('/v2/requests', { params: { query }, signal })),
    refetchInterval: pollMs,
  });
