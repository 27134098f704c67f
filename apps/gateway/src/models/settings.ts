import { catalogSettings } from '#catalog';
import { storageSettings } from '#storage';

/** What the catalog routes read. */
export const modelSettings = {
  ...catalogSettings,
  SIGNING_SECRET: storageSettings.SIGNING_SECRET.refine(
    (secrets) => secrets.length > 0 && secrets.every((secret) => secret.length >= 32),
    {
      message: 'expected one or two secrets of at least 32 characters, separated by a comma',
    },
  ),
};
