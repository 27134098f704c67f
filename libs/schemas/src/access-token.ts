import { z } from 'zod';
import { areSecrets, list, secretsExpected } from './settings.js';
import { oneLine } from './stored-text.js';

/** The scopes that a workspace can give to its own keys. */
export const workspaceScopes = [
  'catalog',
  'run',
  'requests',
  'usage',
  'workspace',
  'provider_keys',
  'manage',
] as const;

/** The default scopes of a console session: all except `manage`, so that it cannot make keys or read secrets. */
export const sessionScopes = workspaceScopes.filter((scope) => scope !== 'manage');

/** All scopes. `operate` reaches beyond the workspace, so callers cannot grant it. */
export const scopes = [...workspaceScopes, 'operate'] as const;

export type Scope = (typeof scopes)[number];

/** The default scopes of a credential: an application can find models, run them and follow its runs. */
export const callerScopes = ['catalog', 'run'] as const satisfies Scope[];

/** The algorithm of access tokens signed with our own secret. Identity providers use their own algorithms. */
export const accessTokenAlgorithm = 'HS256';

/**
 * The secrets of our own access tokens, and the issuer and audience of all access tokens. Every gateway needs the
 * same values.
 */
export const accessTokenSettings = {
  JWT_SECRET: list().refine(areSecrets, secretsExpected).meta({
    description:
      'Secret that signs the tokens of `admin token create`, at least 32 characters. Use the same value as on the gateways; of several values, the first signs.',
    example: 'replace-me-with-at-least-32-random-characters',
  }),
  JWT_ISSUER: z.string().default('model-router').meta({
    description: 'Issuer (`iss`) that access tokens must have.',
    example: 'model-router',
  }),
  JWT_AUDIENCE: z.string().default('model-router').meta({
    description: 'Audience (`aud`) that access tokens must have.',
    example: 'model-router',
  }),
};

/** The claims of an access token besides issuer, audience and times. Other claims are ignored. */
export const accessTokenClaims = z.object({
  /** The id of the workspace that the token acts for. */
  workspace: z.uuid(),
  /** Space-separated scopes. Unknown ones grant nothing. */
  scope: z.string().default(''),
  /** The holder of the token, recorded with every call. */
  sub: oneLine(z.string().min(1).max(200)),
});
