import { accessTokenSettings, areSecrets, count, list, milliseconds, secretsExpected } from '#schemas';
import { z } from 'zod';

// Asymmetric algorithms only: a published key must never serve as an HMAC secret.
const algorithms = z.enum([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]);

// An attacker who can change the keys in transit can sign any token.
function isSafe(text: string): boolean {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}

/** A URL of an identity provider. */
export const identityProviderUrl = () =>
  z
    .url({ protocol: /^https?$/, error: 'must be an https URL' })
    .refine(
      (url) => URL.canParse(url) && isSafe(url),
      'must be an https URL; http is accepted only for localhost',
    );

/** Settings for identifying callers. */
export const authSettings = {
  ...accessTokenSettings,
  JWT_SECRET: accessTokenSettings.JWT_SECRET.optional().meta({
    description:
      'Secret that verifies the access tokens of `admin token create`, at least 32 characters. While it rotates, list the new value, a comma and the old one.',
    example: 'replace-me-with-at-least-32-random-characters',
    oneOf: ['JWT_SECRET', 'JWT_JWKS_URL'],
  }),
  JWT_JWKS_URL: identityProviderUrl()
    .optional()
    .meta({
      description:
        'URL of the JSON Web Key Set with which your identity provider publishes the public keys of its access tokens.',
      example: 'https://login.example.com/.well-known/jwks.json',
      oneOf: ['JWT_SECRET', 'JWT_JWKS_URL'],
    }),
  JWT_JWKS_ALGORITHMS: list('RS256,ES256,EdDSA').pipe(z.array(algorithms).min(1)).meta({
    description:
      'Signature algorithms that are accepted in the identity provider’s tokens, separated by commas.',
    example: 'RS256,ES256,EdDSA',
  }),
  JWT_JWKS_MAX_AGE_SECONDS: count(
    600,
    'How long published keys are used before they are fetched again, in seconds. A key that the identity provider removes stops working within this time.',
  ),
  JWT_JWKS_COOLDOWN_SECONDS: count(
    30,
    'Minimum time between two fetches of the published keys, successful or not, in seconds.',
  ),
  JWT_OPERATOR_CLAIM: z.string().min(1).default('groups').meta({
    description:
      'Claim of the identity provider’s tokens that contains the holder’s groups, as a list or one string.',
    example: 'groups',
  }),
  JWT_OPERATOR_GROUP: z.string().min(1).optional().meta({
    description:
      'Group whose members get the scope `operate`. If unset, no token of the identity provider gets it.',
    example: 'router-operators',
  }),
  AUTH_CACHE_MS: milliseconds(
    30_000,
    'How long a verified credential is cached, in milliseconds, at most 30000. A revoked key usually stops within two seconds; if the signal of its revocation is lost, it stops within this time.',
  ).refine((ms) => ms <= 30_000, 'must be at most 30000'),
};

export type AuthSettings = z.infer<z.ZodObject<typeof authSettings>>;

/** `JWT_SECRET` where no published keys verify access tokens: then it is required. */
export const onlyTokenSecret = list()
  .refine((secrets) => secrets.length > 0, {
    error: 'one of JWT_SECRET and JWT_JWKS_URL is required to verify access tokens',
    abort: true,
  })
  .refine(areSecrets, secretsExpected);
