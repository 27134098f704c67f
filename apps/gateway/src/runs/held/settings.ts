import { milliseconds } from '#schemas';
import type { z } from 'zod';

/** What held connections are bounded by. */
export const heldSettings = {
  SYNC_DEADLINE_MS: milliseconds(600_000).meta({
    description: 'How long a synchronous call is held before it answers 504 deadline_exceeded.',
    example: '600000',
  }),
  SYNC_CHECK_MS: milliseconds(1000).meta({
    description: 'Interval at which the runs of all held calls are checked, in case a signal was lost.',
    example: '1000',
  }),
};

export type HeldSettings = z.infer<z.ZodObject<typeof heldSettings>>;
