import { z } from 'zod';

const nameSyntax = '[a-z0-9_.-]{1,32}';
const name = new RegExp(`^${nameSyntax}$`);
// A comma separates tags.
const value = /^[!-+\--~]{1,128}$/;
const user = /^[!-~]{1,128}$/;
const list = /^[^=,]+=[^,]+(?:,[^=,]+=[^,]+)*$/;

/** The maximum number of tags of a run or a key. */
export const maxTags = 16;

/** The values of tags by their names. */
export type Tags = Readonly<Record<string, string>>;

/**
 * Whom a run is counted for: the values of its dimensions. The dimensions are `user`, the caller's end user, and
 * `tag:<name>` for each tag.
 */
export type Attribution = Readonly<Record<string, string>>;

/** A dimension of an attribution, by which runs are found and usage is grouped. */
export type Dimension = 'user' | `tag:${string}`;

const tagPrefix = 'tag:';

const tagDimension = (tag: string): Dimension => `${tagPrefix}${tag}`;

export const isDimension = (text: string): text is Dimension =>
  text === 'user' || (text.startsWith(tagPrefix) && name.test(text.slice(tagPrefix.length)));

export const tagSyntax =
  'names of 1 to 32 characters out of a-z, 0-9, "_", "." and "-", and values of 1 to 128 visible ASCII characters without a comma';

/** Reads one tag, such as `project=alpha`. The first `=` ends the name. Null for any other text. */
export function tagOf(text: string): [name: string, value: string] | null {
  const at = text.indexOf('=');
  const tag: [string, string] = [text.slice(0, at), text.slice(at + 1)];
  return at !== -1 && name.test(tag[0]) && value.test(tag[1]) ? tag : null;
}

/**
 * Reads tags such as `project=alpha,team=web`, as in `X-Service-Tags`. Blanks around a comma are allowed, because
 * proxies join repeated headers with them. Returns the name of a tag that occurs twice as `repeated`, and null for a
 * malformed text.
 */
export function tagsOf(text: string): { tags: Tags } | { repeated: string } | null {
  const given = text.split(',').map((each) => tagOf(each.trim()));
  if (given.length > maxTags) return null;
  const tags = new Map<string, string>();
  for (const tag of given) {
    if (tag === null) return null;
    if (tags.has(tag[0])) return { repeated: tag[0] };
    tags.set(...tag);
  }
  return { tags: Object.fromEntries(tags) };
}

export const isUser = (text: string): boolean => user.test(text);

/** Null if there is neither a tag nor a user. */
export function attributionOf(tags: Tags, endUser: string | undefined): Attribution | null {
  const dimensions = Object.entries(tags).map(([tag, its]) => [tagDimension(tag), its] as const);
  if (endUser !== undefined) dimensions.push(['user', endUser]);
  return dimensions.length === 0 ? null : Object.fromEntries(dimensions);
}

/** The tags and the user of a run, as callers see them. What is missing is absent. */
export function attributionView(attribution: Attribution | null): { tags?: Tags; user?: string } {
  if (attribution === null) return {};
  const { user: endUser, ...others } = attribution;
  const tags = Object.entries(others).map(([dimension, its]) => [dimension.slice(tagPrefix.length), its]);
  return {
    ...(tags.length > 0 && { tags: Object.fromEntries(tags) as Tags }),
    ...(endUser !== undefined && { user: endUser }),
  };
}

/** Tags as in `X-Service-Tags`, by name: the database does not keep their order. */
export const tagsText = (tags: Tags = {}): string =>
  Object.entries(tags)
    .map(([tag, its]) => `${tag}=${its}`)
    .toSorted()
    .join(',');

export const routerTagName = z.string().regex(name);

export const routerTags = z
  .record(routerTagName, z.string().regex(value))
  .refine((tags) => Object.keys(tags).length <= maxTags, `must not have more than ${maxTags} members`)
  .meta({
    description: `At most ${maxTags} tags: ${tagSyntax}.`,
    example: { project: 'alpha', team: 'web' },
  });

export const routerUser = z.string().regex(user);

/** The tags and the user in a view of a run. */
export const attributionFields = {
  tags: routerTags.optional().describe('The tags of the run. Absent if it has none.'),
  user: routerUser.optional().describe('The end user of the run. Absent if the call named none.'),
};

export const routerTagList = z.string().regex(list);
