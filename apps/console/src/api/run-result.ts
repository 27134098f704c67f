import { queryOptions } from '@tanstack/react-query';
import { mediaTypeOf } from './media-type.ts';
import { call } from './client.ts';

/**
 * A run's output. JSON also comes as text, which keeps long numbers exact; `events` is a whole event stream. Other media
 * types come as bytes.
 */
export type RunResult = { costCents: number | undefined; contentType: string } & (
  | { kind: 'json'; text: string; value: unknown }
  | { kind: 'text'; text: string }
  | { kind: 'events'; text: string }
  | { kind: 'bytes'; url: string }
);

/** The result of a completed run. Throws the run's `Problem` if it failed. */
export const runResultQuery = (model: string, requestId: string) =>
  queryOptions({
    queryKey: ['run-result', requestId],
    queryFn: async ({ signal }) => readResult(await call(resultUrl(model, requestId), { signal })),
    staleTime: Infinity,
    retry: false,
  });

/** A preview isn't worth more than this. */
const maxPreviewBytes = 512 * 1024;

export const runPreviewQuery = (model: string, requestId: string) =>
  previewQuery(requestId, resultUrl(model, requestId));

/** The result for a preview; null if it is too large, because it has its files inline. */
export const previewQuery = (of: string, url: string) =>
  queryOptions({
    queryKey: ['run-preview', of],
    queryFn: async ({ signal }) => {
      const answer = await call(url, { signal });
      if (Number(answer.headers.get('content-length') ?? Infinity) <= maxPreviewBytes)
        return readResult(answer);
      await answer.body?.cancel();
      return null;
    },
    staleTime: Infinity,
    retry: false,
  });

const resultUrl = (model: string, requestId: string) => `/v2/models/${model}/requests/${requestId}`;

export async function readResult(answer: Response): Promise<RunResult> {
  const contentType = answer.headers.get('content-type') ?? '';
  const cost = answer.headers.get('x-service-cost-cents');
  const facts = { contentType, costCents: cost === null ? undefined : Number(cost) };
  const mediaType = mediaTypeOf(contentType);
  if (/[/+]json$/.test(mediaType)) {
    const text = await answer.text();
    return { ...facts, kind: 'json', text, value: JSON.parse(text) as unknown };
  }
  if (mediaType === 'text/event-stream') return { ...facts, kind: 'events', text: await answer.text() };
  if (mediaType.startsWith('text/')) return { ...facts, kind: 'text', text: await answer.text() };
  return { ...facts, kind: 'bytes', url: URL.createObjectURL(await answer.blob()) };
}
