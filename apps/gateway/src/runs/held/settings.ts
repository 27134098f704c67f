import { milliseconds } from '#schemas';
import type { z } from 'zod';

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
