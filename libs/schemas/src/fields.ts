import { z } from 'zod';
import { routerPageCursor } from './identifiers.js';

export const text = (description: string) => z.string().describe(description);
export const count = (description: string) => z.int().min(0).describe(description);
export const moment = (description: string) => z.iso.datetime().describe(description);
export const cents = (description: string) =>
  z.number().min(0).describe(`${description}, in US dollar cents, as a decimal number.`);

/** Present on what the simulator serves. */
export const simulated = z
  .literal(true)
  .describe('Present if the simulator answers in place of the provider: nothing is generated.');

/** One page of a list. `data` describes the order and size of the list, `meta` the page. */
export const pageOf = <Item extends z.ZodType>(
  item: Item,
  data: string,
  meta: { id: string; description: string },
) =>
  z
    .object({
      data: z.array(item).describe(data),
      has_more: z.boolean().describe('Whether there are more pages.'),
      next_cursor: routerPageCursor.optional(),
      limit: z.int().min(1).max(100).describe('The actual page size.'),
    })
    .meta(meta);

export type Page<Entry> = Omit<z.infer<ReturnType<typeof pageOf>>, 'data'> & { data: Entry[] };
