import { count } from '#schemas';
import { z } from 'zod';

/** Settings of the node registry. */
export const nodeSettings = {
  REGISTRY_CACHE_SECONDS: z.coerce.number().int().min(1).max(60).default(60).meta({
    description:
      'Maximum age of a page of nodes that was requested without `latest`, in seconds. Callers are promised at most 60.',
    example: '60',
  }),
  REGISTRY_READS_PER_MINUTE: count(
    60_000,
    'Maximum number of pages of nodes per minute that one address may read from the database, per gateway. Cached pages do not count.',
  ),
  REGISTRY_CACHE_BYTES: count(
    64 * 1024 * 1024,
    'Maximum size of the pages of nodes that a gateway caches, in bytes.',
  ),
};

export type NodeSettings = z.infer<z.ZodObject<typeof nodeSettings>>;
