import { list } from '#schemas';
import { z } from 'zod';

/** What the catalog routes read. */
export const modelSettings = {
  SIGNING_SECRET: list()
    .refine((secrets) => secrets.length > 0 && secrets.every((secret) => secret.length >= 32), {
      message: 'expected one or two secrets of at least 32 characters, separated by a comma',
    })
    .meta({
      description:
        'Signs cursors; the same in every gateway. While it rotates: the new one, a comma, the old one.',
      example: 'a-random-text-of-at-least-32-characters',
    }),
  CATALOG_DIR: z.string().min(1).optional().meta({
    description: 'A directory of model rows that add to, replace or hide the built-in ones.',
    example: '/etc/model-router/catalog',
  }),
};
