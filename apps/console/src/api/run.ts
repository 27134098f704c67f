import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, call } from './client.ts';
import type { components } from './openapi.d.ts';

export type RunDetail = components['schemas']['RouterRequestDetail'];

/** A run, again every second and a half while it lives or its webhook is due. */
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

/** The caller's own bytes. */
export const runInputQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['run', requestId, 'input'],
    queryFn: async ({ signal }) => (await call(`/v2/requests/${requestId}/input`, { signal })).text(),
    staleTime: Infinity,
  });

export const cancelRun = ({ cancel_url }: RunDetail): Promise<Response> =>
  call(pathOf(cancel_url ?? ''), { method: 'PUT' });

/** Behind a proxy of one's own the service may know itself by another name than the browser does. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url, location.origin);
  return pathname + search;
}
