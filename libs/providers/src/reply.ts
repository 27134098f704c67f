import { essenceOf, isJsonType, type Json, jsonExcess, markInexact, prunedJson } from '#schemas';
import type { HttpReply, ProviderOutput, Signal } from './contract.js';

const decoder = new TextDecoder();

export const isReply = (signal: Signal): signal is HttpReply => 'status' in signal;

export const isSuccess = (reply: HttpReply): boolean => reply.status >= 200 && reply.status < 300;

/** A million levels would hold the parser for half a second, many small parts would fill the memory. */
const limits = { depth: 512, keys: Infinity, containers: 1_000_000 };
/** The most that is read of a reply that holds more. */
const maxPrunedContainers = 100_000;

const parsedReplies = new WeakMap<HttpReply, { json: Json | undefined }>();
const prunedReplies = new WeakSet<HttpReply>();

/** The parsed body, or undefined when it is not JSON (a proxy's HTML page, a cut reply, no body at all). It is parsed once. */
export function jsonOf(reply: HttpReply): Json | undefined {
  const parsed = parsedReplies.get(reply) ?? { json: parse(reply) };
  parsedReplies.set(reply, parsed);
  return parsed.json;
}

const maxMarkedBytes = 256 * 1024;

/** The same with an infinite number in the place of each that could not be written again; for what is passed on. */
export function markedJsonOf(reply: HttpReply): Json | undefined {
  const json = jsonOf(reply);
  if (json === undefined || reply.body.length > maxMarkedBytes) return json;
  return JSON.parse(markInexact(decoder.decode(reply.body))) as Json;
}

/** Whether `jsonOf` left large parts of the reply out: its result may stand there. */
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
 * The part of the body that can be parsed: its status and its errors stand in small parts, and its result is passed on as
 * bytes.
 */
function readable(reply: HttpReply): Uint8Array | null {
  const { body } = reply;
  const excess = jsonExcess(body, limits);
  if (excess === null) return body;
  if (excess === 'too_deep' || jsonExcess(body, { ...limits, containers: Infinity }) !== null) return null;
  const pruned = prunedJson(body, maxPrunedContainers);
  // A text that was cut off has parts without an end.
  if (jsonExcess(pruned, limits) !== null) return null;
  prunedReplies.add(reply);
  return pruned;
}

/** Whether the reply is a file by its content type, not a report about one. */
export const isFile = (reply: HttpReply): boolean =>
  /^(image|audio|video|model)\//.test(essenceOf(reply.headers['content-type']));

/** Whether nothing came. */
export const isEmpty = (reply: HttpReply): boolean => reply.storedAs === undefined && reply.body.length === 0;

/**
 * Whether a reply is the file that was expected: by its content type, or because it is neither text nor JSON. Some
 * providers do not say what they send, and what was made is paid.
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

/** A cut JSON text or a page: no format of a file begins so. */
const beginsLikeText = (body: Uint8Array): boolean => /^\s*[{[<]/.test(decoder.decode(body.subarray(0, 100)));

/** The provider's bytes as they arrived, under the content type that came with them. */
export const outputOf = (reply: HttpReply): ProviderOutput => ({
  mediaType:
    reply.headers['content-type'] ??
    (jsonOf(reply) === undefined ? 'application/octet-stream' : 'application/json'),
  body: reply.storedAs === undefined ? reply.body : { storedAs: reply.storedAs },
});

const maxWaitMs = 300_000;
/** A shorter wait is no usable statement. */
const minWaitMs = 100;

const usable = (waitMs: number): number | undefined =>
  waitMs >= minWaitMs ? Math.min(waitMs, maxWaitMs) : undefined;

/** Seconds as a provider writes them into a body: a number, or a text such as "34.4s". */
export function secondsMs(seconds: Json | undefined): number | undefined {
  const text = typeof seconds === 'number' || typeof seconds === 'string' ? String(seconds) : '';
  return usable(/^\d+(\.\d+)?s?$/.test(text) ? Math.ceil(Number.parseFloat(text) * 1000) : 0);
}

/**
 * The wait in milliseconds that a reply names, at most five minutes; undefined when it names none, or one that is over.
 * `ratelimit-reset` counts seconds too, where a provider sends that instead.
 * A date is measured against the reply's own `Date`, so that the reading needs no clock and the
 * provider's clock may be wrong.
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
