import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';
import type { components } from './openapi.d.ts';
import { usageQuery, type UsageRow } from './usage.ts';

export type ApiKey = components['schemas']['RouterKey'];
export type NewApiKey = components['schemas']['RouterNewKey'];
export type RotatedKey = components['schemas']['RouterRotatedKey'];

/** Keys, console sessions and sign-in links. */
export const keysQuery = infiniteQueryOptions({
  queryKey: ['keys', 'all'],
  queryFn: ({ pageParam, signal }) =>
    bodyOf(
      api.GET('/v2/keys', {
        params: { query: { limit: 50, ...(pageParam && { cursor: pageParam }) } },
        signal,
      }),
    ),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor }) => next_cursor,
});

/** The newest keys, for filters and to show the name of each run's key. */
export const newestKeysQuery = queryOptions({
  queryKey: ['keys', 'newest'],
  queryFn: ({ signal }) =>
    bodyOf(api.GET('/v2/keys', { params: { query: { limit: 100, kind: 'key' } }, signal })),
});

/** The cost of the runs of the last 30 days by the id of their key, in cents. */
export const keySpendQuery = {
  ...usageQuery({ group_by: 'key' }),
  select: ({ data }: { data: UsageRow[] }) =>
    new Map(data.map(({ key_id: id, cost_cents: cents }) => [id, cents])),
};
