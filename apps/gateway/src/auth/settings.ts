import { accessTokenSettings, count } from '#schemas';
import type { z } from 'zod';
import { keySetSettings } from './key-set-settings.js';

/** What identification reads. */
export const authSettings = {
  ...accessTokenSettings,
  JWT_SECRET: accessTokenSettings.JWT_SECRET.optional().meta({
    description:
      'Secret that verifies access tokens signed by the admin command line; at least 32 characters.',
    example: 'replace-me-with-at-least-32-random-characters',
    oneOf: ['JWT_SECRET', 'JWT_JWKS_URL'],
  }),
  ...keySetSettings,
  AUTH_CACHE_MS: count(
    30_000,
    'How long a known credential is cached: a revoked key stops at once, and within this time when its signal is lost.',
  ).refine((ms) => ms <= 30_000, 'must be at most 30000'),
  AUTH_REFUSED_CACHE_MS: count(2_000, 'How long the refusal of an unknown credential is cached.'),
};

export type AuthSettings = z.infer<z.ZodObject<typeof authSettings>>;

/** What is wrong with an environment that each setting alone does not show. */
export const lacksTokenKeys = (env: NodeJS.ProcessEnv): string[] =>
  env['JWT_SECRET'] || env['JWT_JWKS_URL']
    ? []
    : ['JWT_SECRET: one of JWT_SECRET and JWT_JWKS_URL is required, to verify access tokens'];
