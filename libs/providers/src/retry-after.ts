import type { HttpReply } from './contract.js';

const longestMs = 300_000;

/**
 * The wait a reply asks for in milliseconds, at most five minutes; undefined when it asks for none.
 * A date is measured against the reply's own `Date`, so that the reading needs no clock and the
 * partner's clock may be wrong.
 */
export function retryAfterMs(reply: HttpReply): number | undefined {
  const asked = reply.headers['retry-after']?.trim();
  if (asked === undefined || asked === '') return undefined;
  const waitMs = /^\d+(\.\d+)?$/.test(asked)
    ? Math.ceil(Number(asked) * 1000)
    : Date.parse(asked) - Date.parse(reply.headers['date'] ?? '');
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(waitMs, 0), longestMs);
}
