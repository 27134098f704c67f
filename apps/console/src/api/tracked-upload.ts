import type { Transport } from './client.ts';

/** No upload takes longer, in milliseconds. */
const maxUploadMs = 30 * 60_000;

/** Sends a file as the body, and reports the share of it that has been sent, from 0 to 1, which `fetch` can't. */
export const trackedUpload =
  (file: Blob, onProgress: (share: number) => void): Transport =>
  (request) =>
    new Promise((resolve, reject) => {
      const sending = new XMLHttpRequest();
      const fail = () => reject(new TypeError('The upload was interrupted.'));
      sending.open(request.method, request.url);
      request.headers.forEach((value, name) => sending.setRequestHeader(name, value));
      sending.timeout = maxUploadMs;
      sending.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total && loaded / total));
      sending.addEventListener('load', () =>
        resolve(
          new Response(sending.response as string, { status: sending.status, headers: headersOf(sending) }),
        ),
      );
      for (const end of ['error', 'abort', 'timeout']) sending.addEventListener(end, fail);
      request.signal.addEventListener('abort', () => sending.abort(), { once: true });
      sending.send(file);
    });

function headersOf(sending: XMLHttpRequest): Headers {
  const headers = new Headers();
  for (const line of sending.getAllResponseHeaders().trim().split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}
