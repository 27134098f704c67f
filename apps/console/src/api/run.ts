import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, call } from './client.ts';
import type { components } from './openapi.d.ts';
import { promptOf } from './prompt-of.ts';

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
    queryFn: ({ signal }) => runInputText(requestId, signal),
    staleTime: Infinity,
  });

export const runInputText = async (requestId: string, signal?: AbortSignal): Promise<string> =>
  (await call(`/v2/requests/${requestId}/input`, signal && { signal })).text();

/** A list shows nothing of a larger input, which has its files inline. */
const maxListedBytes = 64 * 1024;

/** The prompt of a run for a list; null if its input has none, is too large, or has expired. */
export const runPromptQuery = (requestId: string) =>
  queryOptions({
    queryKey: ['run', requestId, 'prompt'],
    queryFn: async ({ signal }) => {
      const answer = await call(`/v2/requests/${requestId}/input`, { signal });
      if (Number(answer.headers.get('content-length') ?? Infinity) <= maxListedBytes) {
        return promptOf(await answer.json()) ?? null;
      }
      await answer.body?.cancel();
      return null;
    },
    staleTime: Infinity,
    retry: false,
  });

/** Submits a queued run and returns its ID. The same key with the same input joins the run that it started. */
export async function submitRun(model: string, body: string, key: string): Promise<string> {
  const answer = await call(`/v2/models/${model}/requests`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body,
  });
  const { request_id } = (await answer.json()) as { request_id: string };
  return request_id;
}

export const cancelRun = ({ cancel_url }: Pick<RunDetail, 'cancel_url'>): Promise<Response> =>
  call(pathOf(cancel_url ?? ''), { method: 'PUT' });

/** Drops the host: behind a proxy, the service's own URLs may have another host than the page. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url, location.origin);
  return pathname + search;
}
