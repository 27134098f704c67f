import { milliseconds } from '#schemas';
import type { z } from 'zod';

/** Limits of held connections. */
export const heldSettings = {
  SYNC_DEADLINE_MS: milliseconds(
    600_000,
    'How long a synchronous call is held before it answers 504 deadline_exceeded.',
  ),
  SYNC_CHECK_MS: milliseconds(
    1000,
    'Interval at which the runs of all held calls are checked, in case a signal was lost.',
  ),
};

export type HeldSettings = z.infer<z.ZodObject<typeof heldSettings>>;
