import { milliseconds } from '#schemas';
import { z } from 'zod';

/** What every process that runs on the catalog reads. */
export const catalogSettings = {
  CATALOG_DIR: z.string().min(1).optional().meta({
    description:
      'A directory of model rows and provider declarations that add to, replace or hide the built-in ones; read again when it changes.',
    example: '/etc/model-router/catalog',
  }),
  CATALOG_POLL_MS: milliseconds(
    10_000,
    'How often CATALOG_DIR is looked at where the system does not tell of changes, in milliseconds.',
  ),
};

export type CatalogSettings = z.infer<z.ZodObject<typeof catalogSettings>>;
