import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, call } from './client.ts';
import type { components } from './openapi.d.ts';

export type RunDetail = components['schemas']['RouterRequestDetail'];

/** A run, polled every 1.5 s until it completes, then every 5 s while its webhook is pending. */
export const runQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['run', requestId],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v2/requests/{request_id}', { params: { path: { request_id: requestId } }, signal })),
    refetchInterval: ({ state: { data } }) => {
      if (data !== undefined && data.status !== 'COMPLETED') return 1_500;
      return data?.webhook?.state === 'pending' ? 5_000 : false;
    },
  });

/** The input exactly as the caller sent it. */
export const runInputQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['run', requestId, 'input'],
    queryFn: async ({ signal }) => (await call(`/v2/requests/${requestId}/input`, { signal })).text(),
    staleTime: Infinity,
  });

export const cancelRun = ({ cancel_url }: RunDetail): Promise<Response> =>
  call(pathOf(cancel_url ?? ''), { method: 'PUT' });

/** Drops the host: behind a proxy, the service's own URLs may have another host than the page. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url, location.origin);
  return pathname + search;
}
