import { list } from '#schemas';
import { catalogSettings } from '#catalog';

/** What the catalog routes read. */
export const modelSettings = {
  ...catalogSettings,
  SIGNING_SECRET: list()
    .refine((secrets) => secrets.length > 0 && secrets.every((secret) => secret.length >= 32), {
      message: 'expected one or two secrets of at least 32 characters, separated by a comma',
    })
    .meta({
      description:
        'Signs cursors; the same in every gateway. While it rotates: the new one, a comma, the old one.',
      example: 'a-random-text-of-at-least-32-characters',
    }),
};
