import type { HttpReply, Json } from './contract.js';

const longestMs = 300_000;

const bounded = (waitMs: number): number => Math.min(Math.max(waitMs, 0), longestMs);

/** Seconds as a partner writes them into a body: a number, or a text such as "34.4s". */
export function secondsMs(seconds: Json | undefined): number | undefined {
  const text = typeof seconds === 'number' || typeof seconds === 'string' ? String(seconds) : '';
  return /^\d+(\.\d+)?s?$/.test(text) ? bounded(Math.ceil(Number.parseFloat(text) * 1000)) : undefined;
}

/**
 * The wait a reply asks for in milliseconds, at most five minutes; undefined when it asks for none.
 * `ratelimit-reset` counts seconds too, where a partner sends that instead.
 * A date is measured against the reply's own `Date`, so that the reading needs no clock and the
 * partner's clock may be wrong.
 */
export function retryAfterMs(reply: HttpReply): number | undefined {
  const asked = (reply.headers['retry-after'] ?? reply.headers['ratelimit-reset'])?.trim();
  if (asked === undefined || asked === '') return undefined;
  const waitMs = /^\d+(\.\d+)?$/.test(asked)
    ? Math.ceil(Number(asked) * 1000)
    : Date.parse(asked) - Date.parse(reply.headers['date'] ?? '');
  return Number.isNaN(waitMs) ? undefined : bounded(waitMs);
}
