import { milliseconds } from '#schemas';
import type { z } from 'zod';
import type { HttpSettings } from '../../http/settings.js';

/** Limits of held connections. */
export const heldSettings = {
  SYNC_DEADLINE_MS: milliseconds(
    600_000,
    'How long a synchronous call is held before it answers 504 deadline_exceeded, in milliseconds. Keep it below the request timeout of the load balancer in front.',
  ),
  SYNC_CHECK_MS: milliseconds(
    1000,
    'Interval at which a gateway checks the runs of its held calls in the database, in milliseconds, in case a signal was lost.',
  ),
};

export type HeldSettings = z.infer<z.ZodObject<typeof heldSettings>>;

/**
 * Kept for answers at the end of a stop: while the database is down, releasing a held run takes ten seconds, plus the
 * statement in progress.
 */
const answersMs = 20_000;

/** How long held calls may wait for their runs while the gateway stops. */
export const holdWhileStoppingMs = ({ CLOSE_TIMEOUT_MS }: Pick<HttpSettings, 'CLOSE_TIMEOUT_MS'>): number =>
  CLOSE_TIMEOUT_MS - Math.min(answersMs, CLOSE_TIMEOUT_MS / 2);
