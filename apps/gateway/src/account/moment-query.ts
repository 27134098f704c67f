import { momentOf } from '#schemas';
import { z } from 'zod';

/** A point in time in a query, in any usual form of ISO 8601; a day begins at midnight UTC. */
export const momentQuery = (description: string) =>
  z
    .string({ error: 'must be given once' })
    .transform((text, context) => {
      const moment = momentOf(text);
      if (moment !== null) return moment;
      context.addIssue('must be a time such as 2026-01-31 or 2026-01-31T12:00:00Z');
      return z.NEVER;
    })
    .optional()
    .meta({ type: 'string', format: 'date-time', description });
