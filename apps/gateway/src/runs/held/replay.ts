import { RouterError } from '#errors';
import type { RunResult } from '#persistence';

/**
 * Whether a result that was delivered before can be given out again honestly: it must hold no asset URL of the
 * provider's own, whose life is not ours to promise.
 */
export const isReplayable = ({ outcome, providerUrls }: RunResult): boolean =>
  outcome !== 'succeeded' || !providerUrls;

/** The answer to a retry that asks for what was already delivered and cannot be repeated. */
export const cannotReplay = (): RouterError =>
  new RouterError(
    'invalid_input',
    'The result of this Idempotency-Key was already delivered and cannot be repeated; use a new key for a new run.',
    { status: 409 },
  );
