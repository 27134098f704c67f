import {
  isUuid,
  maxCents,
  microsFromCents,
  momentOf,
  routerQueueRequestId,
  type Scope,
  scopes,
} from '#schemas';
import { InvalidArgumentError } from 'commander';

/** Postgres counts in 32-bit integers. */
const maxCount = 2 ** 31 - 1;

/** A whole number between the bounds; a refused one is a usage error that names them. */
export const wholeNumber =
  (least: number, most = maxCount) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^-?\d+$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`);
    return value;
  };

/** Whole US cents; the value is in micro-dollars. */
export const centsToMicros =
  (least = 0) =>
  (text: string): number =>
    microsFromCents(wholeNumber(least, maxCents)(text));

/** Whole US cents to add, or, negative, to take back, in micro-dollars. To add none would still end unlimited credits. */
export function addedCentsToMicros(text: string): number {
  const micros = centsToMicros(-maxCents)(text);
  if (micros === 0) throw new InvalidArgumentError('Expected a number of cents other than 0.');
  return micros;
}

/** Micro-dollars, or no limit. Not null for the latter: commander turns a parsed null into an empty text. */
export type Credits = number | 'unlimited';

/** Whole US cents or `unlimited`. */
export const creditsToMicros = (text: string): Credits =>
  text === 'unlimited' ? text : centsToMicros()(text);

/** A decimal number from 0 to 100, such as 1.2. */
export function factor(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d{1,4})?$/.test(text) || value > 100)
    throw new InvalidArgumentError(
      'Expected a number from 0 to 100, such as 1.2, with four decimals at most.',
    );
  return value;
}

/** Comma-separated globs over model ids; an empty text is an empty list, which covers no model. */
export function globs(text: string): string[] {
  const found = items(text);
  // Braces would be cut at their comma, and a leading "!" covers nothing: both look like more than they are.
  const bad = found.find((glob) => !/^[a-z0-9._*?/-]+$/.test(glob));
  if (bad !== undefined)
    throw new InvalidArgumentError(
      `"${bad}" is no glob over model ids, such as "bfl/*", "fal/flux-*" or "**".`,
    );
  return found;
}

/** Comma-separated scopes, at least one, each once. */
export function scopeList(text: string): Scope[] {
  const found = items(text);
  if (found.length === 0 || !found.every(isScope))
    throw new InvalidArgumentError(`Expected one or more of ${scopes.join(', ')}, separated by commas.`);
  return [...new Set(found)];
}

/** A workspace's name: what a command line and a table can carry, and not mistakable for an id. */
export function workspaceName(text: string): string {
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,99}$/u.test(text) || text.endsWith(' '))
    throw new InvalidArgumentError('Expected 1 to 100 letters, digits, spaces, or any of "._@-".');
  if (isUuid(text)) throw new InvalidArgumentError('The name would be taken for an id.');
  return text;
}

/** A point in time: ISO 8601 with its offset, or a day, which begins at midnight UTC. */
export function instant(text: string): Date {
  const form = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;
  const time = form.test(text) ? momentOf(text) : null;
  if (time === null)
    throw new InvalidArgumentError('Expected a time such as 2026-01-31 or 2026-01-31T12:00:00Z.');
  return time;
}

/** The id of a run. */
export function requestId(text: string): string {
  if (!routerQueueRequestId.safeParse(text).success)
    throw new InvalidArgumentError('It must be a request id.');
  return text;
}

/** The id of a key, in any case. */
export function keyId(text: string): string {
  if (!isUuid(text.toLowerCase())) throw new InvalidArgumentError('It must be the id of a key.');
  return text.toLowerCase();
}

/** An address that a browser opens. */
export function httpUrl(text: string): string {
  if (!/^https?:\/\/[^\s]+$/.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('Expected an http or https URL.');
  return text;
}

/** Free text of one line. */
export function line(text: string): string {
  if (text.trim() === '' || text.length > 200 || /\p{Cc}/u.test(text))
    throw new InvalidArgumentError('Expected one line of at most 200 characters.');
  return text.trim();
}

const isScope = (item: string): item is Scope => (scopes as readonly string[]).includes(item);

const items = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
