import { scanJson } from '#schemas';
import type { HttpReply, Json, ProviderOutput, Signal } from './contract.js';

const decoder = new TextDecoder();

export const isReply = (signal: Signal): signal is HttpReply => 'status' in signal;

export const isSuccess = (reply: HttpReply): boolean => reply.status >= 200 && reply.status < 300;

export const textOf = (reply: HttpReply): string => decoder.decode(reply.body);

/** No partner goes beyond; a million levels would hold the parser for half a second, many small parts would fill the memory. */
const most = { depth: 512, keys: Infinity, containers: 1_000_000 };

/** The parsed body, or undefined when it is not JSON (a proxy's HTML page, a cut reply, no body at all). */
export function jsonOf(reply: HttpReply): Json | undefined {
  if (scanJson(reply.body, most) !== null) return undefined;
  try {
    return JSON.parse(textOf(reply)) as Json;
  } catch {
    return undefined;
  }
}

/** Whether the reply is a file by its content type, not a report about one. */
export const isFile = (reply: HttpReply): boolean =>
  /^(image|audio|video|model)\//i.test(reply.headers['content-type'] ?? '');

/** The partner's bytes as they arrived, under the content type that came with them. */
export const outputOf = (reply: HttpReply): ProviderOutput => ({
  mediaType: reply.headers['content-type'] ?? 'application/json',
  body: reply.storedAs === undefined ? reply.body : { storedAs: reply.storedAs },
});
