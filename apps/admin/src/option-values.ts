import { didYouMean } from '#catalog';
import {
  isUuid,
  isWorkspaceName,
  maxCents,
  maxTags,
  microsFromCents,
  momentOf,
  routerQueueRequestId,
  type Scope,
  scopes,
  tagOf,
  type Tags,
  tagSyntax,
  type UsageGrouping,
  usageGrouping,
} from '#schemas';
import { InvalidArgumentError } from 'commander';
import { wholeNumber } from './whole-number.js';

/** Whole US cents, converted to micro-dollars. */
export const centsToMicros =
  (min = 0) =>
  (text: string): number =>
    microsFromCents(wholeNumber(min, maxCents)(text));

/** US cents to add or, if negative, remove, in micro-dollars. Not 0, which would end unlimited credits. */
export function addedCentsToMicros(text: string): number {
  const micros = centsToMicros(-maxCents)(text);
  if (micros === 0) throw new InvalidArgumentError('Expected a number of cents other than 0.');
  return micros;
}

/** Micro-dollars, or `unlimited`; not null, because commander turns a parsed null into an empty string. */
export type Credits = number | 'unlimited';

/** Whole US cents or `unlimited`. */
export const creditsToMicros = (text: string): Credits =>
  text === 'unlimited' ? text : centsToMicros()(text);

/** A decimal number from 0 to 100, such as 1.2. */
export function factor(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d{1,4})?$/.test(text) || value > 100)
    throw new InvalidArgumentError(
      'Expected a number from 0 to 100 with at most four decimals, such as 1.2.',
    );
  return value;
}

/** Comma-separated globs over model ids. An empty text is an empty list, which matches no model. */
export function globs(text: string): string[] {
  const found = items(text);
  // Braces would be split at their comma and a leading "!" matches nothing, so both would not do what they
  // seem to.
  const bad = found.find((glob) => !/^[a-z0-9._*?/-]+$/.test(glob));
  if (bad !== undefined)
    throw new InvalidArgumentError(
      `"${bad}" is not a glob over model ids, such as "bfl/*", "fal/flux-*" or "**".`,
    );
  return found;
}

/** Comma-separated names of tags. An empty text is an empty list. */
export function tagNames(text: string): string[] {
  const found = [...new Set(items(text))];
  const bad = found.find((name) => tagOf(`${name}=x`) === null);
  if (bad !== undefined)
    throw new InvalidArgumentError(`"${bad}" is not the name of a tag, such as "project".`);
  return found;
}

export function yesOrNo(text: string): boolean {
  if (text !== 'yes' && text !== 'no') throw new InvalidArgumentError('Expected yes or no.');
  return text === 'yes';
}

/** How long a workspace keeps results, in seconds, or `default` for no period of its own. */
export const resultSeconds = (text: string): number | 'default' =>
  text === 'default' ? text : wholeNumber(60)(text);

/** One or more comma-separated scopes, without duplicates. */
export function scopeList(text: string): Scope[] {
  const found = items(text);
  const unknown = found.find((item) => !isScope(item));
  if (found.length === 0 || !found.every(isScope))
    throw new InvalidArgumentError(
      `Expected one or more of ${scopes.join(', ')}, separated by commas.${didYouMean(unknown ?? '', scopes)}`,
    );
  return [...new Set(found)];
}

/** A tag such as `project=alpha`, added to those of earlier options. */
export function tag(text: string, earlier: Tags = {}): Tags {
  const given = tagOf(text);
  if (given === null)
    throw new InvalidArgumentError(`Expected a tag such as project=alpha, with ${tagSyntax}.`);
  const [name, value] = given;
  if (name in earlier) throw new InvalidArgumentError(`The tag "${name}" is given twice.`);
  if (Object.keys(earlier).length === maxTags)
    throw new InvalidArgumentError(`A key has at most ${maxTags} tags.`);
  return { ...earlier, [name]: value };
}

/** A grouping of usage. */
export function grouping(text: string): UsageGrouping {
  const { data } = usageGrouping.safeParse(text);
  if (data === undefined) throw new InvalidArgumentError('Expected day, model, key, user or tag:<name>.');
  return data;
}

/** The name of a workspace. */
export function workspaceName(text: string): string {
  if (isUuid(text)) throw new InvalidArgumentError('The name must not look like an id.');
  if (!isWorkspaceName(text))
    throw new InvalidArgumentError('Expected 1 to 100 letters, digits, spaces or characters of "._@-".');
  return text;
}

/** A point in time: ISO 8601 with an offset, or a day, which begins at midnight UTC. */
export function instant(text: string): Date {
  const form = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;
  const time = form.test(text) ? momentOf(text) : null;
  if (time === null)
    throw new InvalidArgumentError('Expected a time such as 2026-01-31 or 2026-01-31T12:00:00Z.');
  return time;
}

/** The id of a run. */
export function requestId(text: string): string {
  if (!routerQueueRequestId.safeParse(text).success) throw new InvalidArgumentError('Expected a request id.');
  return text;
}

/** The id of a key, case-insensitive. */
export function keyId(text: string): string {
  if (!isUuid(text.toLowerCase())) throw new InvalidArgumentError('Expected the id of a key.');
  return text.toLowerCase();
}

/** An http or https URL. */
export function httpUrl(text: string): string {
  if (!/^https?:\/\/[^\s]+$/.test(text) || !URL.canParse(text))
    throw new InvalidArgumentError('Expected an http or https URL.');
  return text;
}

/** One line of free text. */
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
