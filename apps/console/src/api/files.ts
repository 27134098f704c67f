import { infiniteQueryOptions } from '@tanstack/react-query';
import { api, bodyOf, call, type Transport } from './client.ts';
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
export async function uploadFile(
  file: File,
  { signal, transport }: { signal?: AbortSignal; transport?: Transport } = {},
): Promise<StoredFile> {
  const headers = { 'content-type': file.type || 'application/octet-stream' };
  const init = { method: 'POST', headers, body: file, signal: signal ?? null };
  const answer = await call('/v2/files', init, transport);
  return (await answer.json()) as StoredFile;
}

/** The link of a file that another model can read. A file that has none, because it is inline, is uploaded first. */
export async function fileLink(url: string, name: string): Promise<string> {
  if (/^https?:/.test(url)) return url;
  const bytes = await blobOf(url);
  return (await uploadFile(new File([bytes], name, { type: bytes.type }))).url;
}

/** The bytes of any link. The security policy allows no request for a data URL. */
export async function blobOf(url: string, signal?: AbortSignal): Promise<Blob> {
  if (url.startsWith('data:')) return bytesOf(url);
  const answer = await fetch(url, { signal: signal ?? null });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return answer.blob();
}

function bytesOf(dataUrl: string): Blob {
  const comma = dataUrl.indexOf(',');
  const head = dataUrl.slice('data:'.length, comma);
  const data = dataUrl.slice(comma + 1);
  const bytes = /;base64$/i.test(head)
    ? Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0))
    : new TextEncoder().encode(decodeURIComponent(data));
  return new Blob([bytes], { type: head.replace(/;base64$/i, '') });
}
