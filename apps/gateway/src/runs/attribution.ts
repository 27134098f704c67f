import { RouterError } from '#errors';
import { type Attribution, attributionOf, isUser, maxTags, type Tags, tagsOf, tagSyntax } from '#schemas';
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../auth/caller.js';

/**
 * Whom the run of a call is counted for: the tags of the call and of its key, and the end user. Undefined if there are
 * none. Throws a 400 for malformed headers and for what the workspace demands and the call lacks, and a 403 if the call
 * contradicts its key.
 */
export function attributionOfCall(
  headers: IncomingHttpHeaders,
  { tags: fixed, requiredTags, requiresUser }: Pick<Caller, 'tags' | 'requiredTags' | 'requiresUser'>,
): Attribution | undefined {
  const { 'x-service-tags': list, 'x-service-user': user } = headers;
  if (user !== undefined && !isUser(String(user)))
    throw new RouterError('invalid_input', 'X-Service-User must be 1 to 128 visible ASCII characters.');
  const tags = withFixed(list === undefined ? {} : listedTags(String(list)), fixed ?? {});
  const missing = requiredTags.find((name) => tags[name] === undefined);
  if (missing !== undefined)
    throw new RouterError(
      'invalid_input',
      `The workspace requires the tag "${missing}" on each run, in X-Service-Tags or as a tag of the key.`,
    );
  if (requiresUser && user === undefined)
    throw new RouterError(
      'invalid_input',
      'The workspace requires an end user on each run, in X-Service-User.',
    );
  return attributionOf(tags, user === undefined ? undefined : String(user)) ?? undefined;
}

function listedTags(list: string): Tags {
  const read = tagsOf(list);
  if (read === null)
    throw new RouterError(
      'invalid_input',
      `X-Service-Tags must be 1 to ${maxTags} tags such as project=alpha,team=web, with ${tagSyntax}.`,
    );
  if ('repeated' in read)
    throw new RouterError('invalid_input', `X-Service-Tags has the tag "${read.repeated}" twice.`);
  return read.tags;
}

function withFixed(tags: Tags, fixed: Tags): Tags {
  const contradicted = Object.keys(fixed).find((name) => (tags[name] ?? fixed[name]) !== fixed[name]);
  if (contradicted !== undefined)
    throw new RouterError(
      'forbidden',
      `The key of this call has the tag ${contradicted}=${fixed[contradicted]}, which X-Service-Tags contradicts.`,
    );
  const all = { ...tags, ...fixed };
  if (Object.keys(all).length <= maxTags) return all;
  throw new RouterError('invalid_input', `A run has at most ${maxTags} tags, including those of its key.`);
}
