import { z } from 'zod';

const defaultLimit = 20;
const maxLimit = 100;
const mustBeInteger = 'must be an integer';

/** The query of a list of models; `limit` is the page size that is served. */
export const pageQuery = z.object({
  cursor: z.string({ error: 'must be given once' }).optional().meta({
    description: '`next_cursor` of the page before; left out for the first page. It expires after 24 hours.',
  }),
  limit: z
    .string({ error: mustBeInteger })
    .regex(/^-?\d+$/, mustBeInteger)
    .default(String(defaultLimit))
    .meta({
      type: 'integer',
      default: defaultLimit,
      description: 'The page size. Above 100, 100 is served; 0 and less select the default.',
    })
    .transform((text) => (Number(text) <= 0 ? defaultLimit : Math.min(Number(text), maxLimit))),
});
