import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, bodyOf, call } from './client.ts';
import type { components } from './openapi.d.ts';

export type StoredFile = components['schemas']['RouterFile'];

export const filesQuery = infiniteQueryOptions({
  queryKey: ['files'],
  queryFn: ({ pageParam, signal }) =>
    bodyOf(
      api.GET('/v2/files', {
        params: { query: { limit: 50, ...(pageParam && { cursor: pageParam }) } },
        signal,
      }),
    ),
  initialPageParam: '',
  getNextPageParam: ({ next_cursor }) => next_cursor,
});

/** Sends the raw bytes. The service detects the content type. */
export async function uploadFile(file: File): Promise<StoredFile> {
  const answer = await call('/v2/files', {
    method: 'POST',
    headers: { 'content-type': file.type || 'application/octet-stream' },
    body: file,
  });
  return (await answer.json()) as StoredFile;
}
