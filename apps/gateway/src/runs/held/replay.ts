import { RouterError } from '#errors';
import type { RunResult } from '#persistence';
import { type Json, valuesAt } from '#providers';

/**
 * Whether a result that was delivered before can be given out again honestly. Its bytes must be there, and it
 * must hold no URL of the provider's, whose life is not ours to promise.
 */
export function isReplayable({ outcome, body, assets }: RunResult): boolean {
  if (outcome !== 'succeeded') return true;
  if (body === null) return false;
  return !assets.some((pointer) => valuesAt(jsonOf(body), pointer as `/${string}`).some(isUrl));
}

/** The answer to a retry that asks for what was already delivered and cannot be repeated. */
export const cannotReplay = (): RouterError =>
  new RouterError(
    'invalid_input',
    'The result of this Idempotency-Key was already delivered and cannot be repeated; use a new key for a new run.',
    { status: 409 },
  );

const isUrl = (value: Json): boolean => typeof value === 'string' && /^https?:/i.test(value);

function jsonOf(body: Buffer): Json {
  try {
    return JSON.parse(body.toString()) as Json;
  } catch {
    return null;
  }
}
