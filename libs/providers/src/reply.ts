import { essenceOf, isJsonType, type Json, jsonExcess, markInexact, prunedJson } from '#schemas';
import type { HttpReply, ProviderOutput, Signal } from './contract.js';

const decoder = new TextDecoder();

export const isReply = (signal: Signal): signal is HttpReply => 'status' in signal;

export const isSuccess = (reply: HttpReply): boolean => reply.status >= 200 && reply.status < 300;

/** A million levels would block the parser for half a second, and many small containers would fill the memory. */
export const replyLimits = { depth: 512, keys: Infinity, containers: 1_000_000 };
/** Maximum number of containers that are read from a larger reply. */
const maxPrunedContainers = 100_000;

const parsedReplies = new WeakMap<HttpReply, { json: Json | undefined }>();
const prunedReplies = new WeakSet<HttpReply>();

/** The parsed body, cached. Undefined if it is not JSON: a proxy's HTML page, a truncated reply, an empty body. */
export function jsonOf(reply: HttpReply): Json | undefined {
  const parsed = parsedReplies.get(reply) ?? { json: parse(reply) };
  parsedReplies.set(reply, parsed);
  return parsed.json;
}

/** The same reply with other JSON as its body. */
export function jsonReply({ status, headers }: HttpReply, json: Json): HttpReply {
  const reply = {
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(json)),
  };
  parsedReplies.set(reply, { json });
  return reply;
}

const maxMarkedBytes = 256 * 1024;

/** The same, with infinity in place of each number that would lose precision; for values that are passed on. */
export function markedJsonOf(reply: HttpReply): Json | undefined {
  const json = jsonOf(reply);
  if (json === undefined || reply.body.length > maxMarkedBytes) return json;
  return JSON.parse(markInexact(decoder.decode(reply.body))) as Json;
}

/** Whether `jsonOf` omitted large parts of the reply, which may contain the result. */
export const isPruned = (reply: HttpReply): boolean => prunedReplies.has(reply);

function parse(reply: HttpReply): Json | undefined {
  const body = readable(reply);
  if (body === null) return undefined;
  try {
    return JSON.parse(decoder.decode(body)) as Json;
  } catch {
    return undefined;
  }
}

/**
 * The part of the body that can be parsed. Status and errors are in small parts; the result is passed on as bytes.
 */
function readable(reply: HttpReply): Uint8Array | null {
  const { body } = reply;
  const excess = jsonExcess(body, replyLimits);
  if (excess === null) return body;
  if (excess === 'too_deep' || jsonExcess(body, { ...replyLimits, containers: Infinity }) !== null)
    return null;
  const pruned = prunedJson(body, maxPrunedContainers);
  // In a truncated text, some parts are not closed.
  if (jsonExcess(pruned, replyLimits) !== null) return null;
  prunedReplies.add(reply);
  return pruned;
}

/** Whether the content type says that the reply is a file, not a report about one. */
export const isFile = (reply: HttpReply): boolean =>
  /^(image|audio|video|model)\//.test(essenceOf(reply.headers['content-type']));

/** Whether the reply has no content. */
export const isEmpty = (reply: HttpReply): boolean => reply.storedAs === undefined && reply.body.length === 0;

/**
 * Whether a reply is the expected file: by its content type, or because it is neither text nor JSON. Some providers do
 * not state the type, and the output is already paid for.
 */
export function isExpectedFile(reply: HttpReply): boolean {
  if (reply.status !== 200) return false;
  if (isFile(reply)) return true;
  const type = reply.headers['content-type'] ?? '';
  if (isJsonType(type) || /^text\/|[/+]xml$/.test(essenceOf(type))) return false;
  if (reply.storedAs !== undefined) return true;
  if (reply.body.length === 0 || (type === '' && beginsLikeText(reply.body))) return false;
  return jsonOf(reply) === undefined;
}

/** Truncated JSON or a page: no file format begins like this. */
const beginsLikeText = (body: Uint8Array): boolean => /^\s*[{[<]/.test(decoder.decode(body.subarray(0, 100)));

/** The provider's bytes as received, with their content type. */
export const outputOf = (reply: HttpReply): ProviderOutput => ({
  mediaType:
    reply.headers['content-type'] ??
    (jsonOf(reply) === undefined ? 'application/octet-stream' : 'application/json'),
  body: reply.storedAs === undefined ? reply.body : { storedAs: reply.storedAs },
});

const maxWaitMs = 300_000;
/** Shorter waits are ignored. */
const minWaitMs = 100;

const usable = (waitMs: number): number | undefined =>
  waitMs >= minWaitMs ? Math.min(waitMs, maxWaitMs) : undefined;

/** Seconds from a body: a number, or a string such as "34.4s". */
export function secondsMs(seconds: Json | undefined): number | undefined {
  const text = typeof seconds === 'number' || typeof seconds === 'string' ? String(seconds) : '';
  return usable(/^\d+(\.\d+)?s?$/.test(text) ? Math.ceil(Number.parseFloat(text) * 1000) : 0);
}

/**
 * The wait in milliseconds that a reply requests, at most five minutes; undefined if it requests none or it has passed.
 * `ratelimit-reset`, also in seconds, is read if there is no `retry-after`. A date is compared with the reply's own
 * `Date`, so this function needs no clock, and the provider's clock may be wrong.
 */
export function retryAfterMs(reply: HttpReply): number | undefined {
  const named = (reply.headers['retry-after'] ?? reply.headers['ratelimit-reset'])?.trim();
  if (named === undefined || named === '') return undefined;
  return usable(
    /^\d+(\.\d+)?$/.test(named)
      ? Math.ceil(Number(named) * 1000)
      : Date.parse(named) - Date.parse(reply.headers['date'] ?? ''),
  );
}
