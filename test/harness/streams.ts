import { once } from 'node:events';
import http from 'node:http';

/** An answer that is read while it arrives. */
export interface LiveAnswer {
  status: number;
  headers: Headers;
  /** The bytes so far. */
  bytes(): Buffer;
  /** Resolves when the answer has ended: true if it ended cleanly, false if it was cut off. */
  ended: Promise<boolean>;
  /** Closes the connection. */
  leave(): void;
  /** Resets the connection. */
  reset(): void;
}

/** Calls a route and reads the answer while it arrives, `pauseMs` after each chunk. */
export async function openAnswer(
  url: string,
  {
    key,
    body,
    headers = {},
    pauseMs = 0,
  }: { key: string; body: string; headers?: Record<string, string>; pauseMs?: number },
): Promise<LiveAnswer> {
  const request = http.request(url, {
    method: 'POST',
    agent: false,
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const chunks: Uint8Array[] = [];
  const read = async () => {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  return {
    status: response.statusCode ?? 0,
    headers: new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
    bytes: () => Buffer.concat(chunks),
    ended: read().then(
      () => true,
      () => false,
    ),
    leave: () => request.destroy(),
    reset: () => request.socket?.resetAndDestroy(),
  };
}
