import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';
import type { components } from './openapi.d.ts';

export type Delivery = components['schemas']['RouterWebhookDelivery'];

export type DeliveryDetail = components['schemas']['RouterWebhookDeliveryDetail'];

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

/** A delivery with its attempts, polled until it has ended. */
export const deliveryQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['webhooks', 'delivery', requestId],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v2/webhooks/deliveries/{request_id}', {
          params: { path: { request_id: requestId } },
          signal,
        }),
      ),
    refetchInterval: ({ state: { data } }) => (data?.state === 'pending' ? 1_000 : false),
  });

/** Sends one event to the URL. The answer is in its delivery. */
export const sendTest = (url: string): Promise<Delivery> =>
  bodyOf(api.POST('/v2/webhooks/test', { body: { url } }));
