import { count } from '#schemas';
import { z } from 'zod';

/** Settings of the node registry. */
export const nodeSettings = {
  REGISTRY_CACHE_SECONDS: z.coerce.number().int().min(1).max(60).default(60).meta({
    description:
      'How old a page of nodes may be when `latest` is not asked for, in seconds; callers are promised 60 at most.',
    example: '60',
  }),
  REGISTRY_READS_PER_MINUTE: count(
    60_000,
    'Pages of nodes a minute that one address may have read from the database, per gateway; cached pages do not count.',
  ),
  REGISTRY_CACHE_BYTES: count(64 * 1024 * 1024, 'Most bytes of pages of nodes that a gateway keeps.'),
};

export type NodeSettings = z.infer<z.ZodObject<typeof nodeSettings>>;
