import { RouterError } from '#errors';
import { KeyRefused, type KeyRow, maxKeysADay, maxLiveKeys } from '#persistence';
import type { RouterKey, Scope } from '#schemas';
import type { Caller } from '../auth/caller.js';
import { noCredential, unlessDeleted } from '../auth/caller.guard.js';
import { failure } from '../http/api-route.js';

/** A key as its workspace sees it, without its text. */
export const shownKey = (row: KeyRow): RouterKey => ({
  id: row.id,
  kind: row.kind,
  name: row.name,
  prefix: row.prefix,
  scopes: row.scopes,
  state: row.state,
  ...(row.madeBy !== null && { made_by: row.madeBy }),
  ...(row.madeBySubject !== null && { made_by_subject: row.madeBySubject }),
  created_at: row.createdAt.toISOString(),
  ...(row.expiresAt && { expires_at: row.expiresAt.toISOString() }),
  ...(row.revokedAt && { revoked_at: row.revokedAt.toISOString() }),
});

const refusals = {
  caller_ended: noCredential,
  outlives_maker: () =>
    new RouterError(
      'invalid_input',
      'expires_at must not be later than the end of the key that makes this one.',
    ),
  too_many_makers: () =>
    new RouterError('forbidden', 'This key has too many makers above it to make another key.'),
  too_many_a_day: () =>
    new RouterError(
      'rate_limited',
      `The workspace has made ${maxKeysADay} keys and sign-in links within 24 hours; retry later.`,
    ),
  too_many: () =>
    new RouterError(
      'concurrency_limit_exceeded',
      `The workspace has as many keys and sessions as allowed, ${maxLiveKeys}; revoke some, or retry when some have expired.`,
    ),
} satisfies Record<KeyRefused['reason'], () => RouterError>;

/** Nobody gives away a scope without having it. */
export function holdTo(caller: Caller, scopes: readonly Scope[]): void {
  const missing = scopes.find((scope) => !caller.scopes.includes(scope));
  if (missing === undefined) return;
  throw new RouterError(
    'forbidden',
    `This credential lacks the scope "${missing}", and cannot give it away.`,
  );
}

/** Waits for a key that is being made. */
export const orRefused = <Made>(making: Promise<Made>): Promise<Made> =>
  unlessDeleted(making).catch((error: unknown) => {
    throw error instanceof KeyRefused ? refusals[error.reason]() : error;
  });

/** The failures of routes that make keys. */
export const tooManyKeys = failure(
  429,
  ['concurrency_limit_exceeded', 'rate_limited'],
  'The workspace has too many keys and sessions, or its callers have made too many within 24 hours.',
);
