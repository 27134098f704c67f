import { RouterError } from '#errors';
import { KeyRefused, maxKeysADay, maxLiveKeys } from '#persistence';
import { maxTags } from '#schemas';
import type { Caller } from '../auth/caller.js';
import { noCredential, unlessDeleted } from '../auth/caller.guard.js';
import { failure } from '../http/api-route.js';

const refusals = {
  caller_ended: noCredential,
  outlives_maker: () =>
    new RouterError(
      'invalid_input',
      'expires_at must not be later than the expiry of the key that creates this one.',
    ),
  too_many_makers: () =>
    new RouterError(
      'forbidden',
      'This key cannot create another key: its chain of creators is at the maximum length.',
    ),
  not_made_by_caller: () =>
    new RouterError(
      'forbidden',
      'This credential cannot rotate or revoke that key, because it did not create it. The key’s maker can, and so can the operator.',
    ),
  contradicts_tags: () =>
    new RouterError(
      'forbidden',
      'The tags contradict those of the key that creates this one, which the new key gets too.',
    ),
  too_many_tags: () =>
    new RouterError(
      'invalid_input',
      `A key has at most ${maxTags} tags, including those of the key that creates it.`,
    ),
  too_many_a_day: () =>
    new RouterError(
      'rate_limited',
      `The workspace has created ${maxKeysADay} keys and sign-in links within 24 hours, which is the limit; retry later.`,
    ),
  too_many: () =>
    new RouterError(
      'concurrency_limit_exceeded',
      `The workspace has reached its limit of ${maxLiveKeys} keys and sessions; revoke some, or retry when some have expired.`,
    ),
} satisfies Record<KeyRefused['reason'], () => RouterError>;

/** Throws `forbidden` unless the caller has every scope that it wants to grant. */
export function holdTo(caller: Caller, scopes: readonly string[]): void {
  const missing = scopes.find((scope) => !caller.scopes.includes(scope));
  if (missing === undefined) return;
  throw new RouterError('forbidden', `This credential lacks the scope "${missing}" and cannot grant it.`);
}

/** Waits for a key to be created, and turns a refusal into its error. */
export const orRefused = <Made>(making: Promise<Made>): Promise<Made> =>
  unlessDeleted(making).catch((error: unknown) => {
    throw error instanceof KeyRefused ? refusals[error.reason]() : error;
  });

/** The 429 of routes that create keys. */
export const tooManyKeys = failure(
  429,
  ['concurrency_limit_exceeded', 'rate_limited'],
  'The workspace has too many keys and sessions, or has created too many within 24 hours.',
);
