import type { FetchImplementation } from 'jose';

const mostBytes = 1024 * 1024;

/** Fetches a small document: a larger body is given up, and a body that is not wanted is not read. */
export const fetchBounded: FetchImplementation = async (url, options) => {
  const response = await fetch(url, options);
  if (response.status !== 200 || response.body === null) {
    await response.body?.cancel();
    return new Response(null, { status: response.status });
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the rest of the body.
    if (bytes > mostBytes) throw new Error(`the document is larger than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks));
};
