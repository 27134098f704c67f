import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';
import type { components } from './openapi.d.ts';

export type Delivery = components['schemas']['RouterWebhookDelivery'];

export const secretQuery = queryOptions({
  queryKey: ['webhooks', 'secret'],
  queryFn: ({ signal }) => bodyOf(api.GET('/v2/webhooks/secret', { signal })),
});

export const deliveriesQuery = (state: Delivery['state'] | undefined) =>
  infiniteQueryOptions({
    queryKey: ['webhooks', 'deliveries', state],
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        api.GET('/v2/webhooks/deliveries', {
          params: { query: { limit: 50, ...(state && { state }), ...(pageParam && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    refetchInterval: 10_000,
  });
