import { z } from 'zod';
import { oneLine } from './stored-text.js';

/** What a key can be good for that a workspace makes for itself. */
export const workspaceScopes = ['catalog', 'run', 'requests', 'usage', 'workspace', 'manage'] as const;

/** The scopes of a console session that asks for none: it follows, runs and pays, and gives nothing away. */
export const sessionScopes = workspaceScopes.filter((scope) => scope !== 'manage');

/** What a credential can be good for. `operate` reaches beyond its workspace: no caller can give it away. */
export const scopes = [...workspaceScopes, 'operate'] as const;

export type Scope = (typeof scopes)[number];

/** What an application needs to find models, run them and follow its runs: what a credential is good for unless more is said. */
export const callerScopes = ['catalog', 'run'] as const satisfies Scope[];

/** What our own secret signs access tokens with; an identity provider has algorithms of its own. */
export const accessTokenAlgorithm = 'HS256';

/** What signs our own access tokens, and what any access token must name; every gateway shares these values. */
export const accessTokenSettings = {
  JWT_SECRET: z.string().min(32, 'must have at least 32 characters').meta({
    description:
      'Secret that signs the tokens of `admin token create`, at least 32 characters. Use the same value as on the gateways.',
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

/** The claims of an access token beside its issuer, audience and times. Other claims are tolerated. */
export const accessTokenClaims = z.object({
  /** Id of the workspace the token acts for. */
  workspace: z.uuid(),
  /** Space-separated scopes; a missing or unknown one grants nothing. */
  scope: z.string().default(''),
  /** Who holds the token; recorded with every call. */
  sub: oneLine(z.string().min(1).max(200)),
});
