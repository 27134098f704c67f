import { DateTime } from 'luxon';

/** The usual format, which the engine parses thirty times faster than Luxon does. */
const usual = /^\d{4}-\d{2}-\d{2}T(?!24)\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const maxTextLength = 64;
const earliestMs = Date.parse('0001-01-01T00:00:00.000Z');
const latestMs = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Parses a time in any ISO 8601 format that begins with a date, or in RFC 3339. Without an offset the time is UTC.
 * Null for anything else. Times outside the years 1 to 9999 are clamped.
 */
export function momentOf(text: string): Date | null {
  if (usual.test(text)) {
    const time = new Date(text);
    // The engine reads February 30 as a day in March.
    const isDay = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 10));
    return isDay && time.getTime() >= earliestMs ? time : null;
  }
  // RFC 3339 allows a space instead of the "T". A second space was the "+" of an offset, unescaped in a query.
  const spelled = text.replace(/^([\dW+-]+) (?=\d)/i, '$1T').replace(' ', '+');
  if (spelled.length > maxTextLength || !/^[+-]?\d{4}/.test(spelled) || spelled.includes('[')) return null;
  const time = DateTime.fromISO(spelled, { zone: 'utc' });
  return time.isValid ? new Date(Math.min(Math.max(time.toMillis(), earliestMs), latestMs)) : null;
}
