import { SETTINGS } from '#infrastructure';
import { BadSettings, type Scope } from '#schemas';
import { Inject, Injectable } from '@nestjs/common';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretPost,
  type Configuration,
  discovery,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  ResponseBodyError,
} from 'openid-client';
import { z } from 'zod';
import { type Role, roles } from './roles.js';
import type { PeopleSettings } from './settings.js';

/** Time limit of each call to the identity provider, in seconds. */
const callSeconds = 5;
/** The identity provider's description is fetched again after this time. */
const maxAgeMs = 60 * 60 * 1000;

/** A sign-in that has begun. Only the browser that began it has these values. */
export interface Attempt {
  state: string;
  nonce: string;
  verifier: string;
}

/** A person whom the identity provider vouches for. */
interface Person {
  subject: string;
  /** Shown in the lists of sessions. */
  name: string;
  workspaceId: string;
  scopes: Scope[];
}

const refusals = ['declined', 'expired', 'noRole', 'noWorkspace'] as const;
type Refusal = (typeof refusals)[number];

/** Thrown when a person cannot sign in. */
export class SignInRefused extends Error {
  constructor(readonly reason: Refusal) {
    super(`The sign-in was refused: ${reason}.`);
    this.name = 'SignInRefused';
  }
}

const subject = z.string().min(1).max(200);

/** The operator's OpenID Connect provider. It authenticates people by the authorization code flow with PKCE. */
@Injectable()
export class IdentityProvider {
  private readonly groups: Record<Role, string | undefined>;
  private found: { configuration: Promise<Configuration>; atMs: number } | undefined;

  /** Throws `BadSettings` if the settings contradict each other. */
  constructor(@Inject(SETTINGS) private readonly settings: PeopleSettings) {
    this.groups = {
      viewer: settings.OIDC_VIEWER_GROUP,
      billing: settings.OIDC_BILLING_GROUP,
      developer: settings.OIDC_DEVELOPER_GROUP,
      operator: settings.OIDC_OPERATOR_GROUP,
    };
    if (settings.OIDC_ISSUER === undefined) return;
    const problems = [
      ...(settings.OIDC_CLIENT_ID === undefined ? ['OIDC_CLIENT_ID: is required with OIDC_ISSUER'] : []),
      ...(Object.values(this.groups).every((group) => group === undefined)
        ? ['OIDC_DEVELOPER_GROUP: with OIDC_ISSUER, at least one role needs a group']
        : []),
    ];
    if (problems.length > 0) throw new BadSettings(problems);
  }

  /** Its name on the sign-in page. Null if none is configured. */
  get name(): string | null {
    return this.settings.OIDC_ISSUER === undefined ? null : this.settings.OIDC_NAME;
  }

  /** Begins a sign-in. The person continues at `url`, which leads back to `callback`. */
  async begin(callback: string): Promise<{ url: URL; attempt: Attempt }> {
    const attempt = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const url = buildAuthorizationUrl(await this.configuration(), {
      redirect_uri: callback,
      scope: this.settings.OIDC_SCOPES,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
    });
    return { url, attempt };
  }

  /** Ends a sign-in. `url` is the callback with the provider's parameters. Throws `SignInRefused`. */
  async finish(url: URL, { state, nonce, verifier }: Attempt): Promise<Person> {
    const configuration = await this.configuration();
    const tokens = await authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    }).catch((error: unknown) => {
      if (error instanceof AuthorizationResponseError) throw new SignInRefused('declined');
      if (error instanceof ResponseBodyError && error.error === 'invalid_grant')
        throw new SignInRefused('expired');
      throw error;
    });
    const claims: Record<string, unknown> = { ...tokens.claims() };
    const isComplete = claims[this.settings.OIDC_GROUPS_CLAIM] !== undefined;
    const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
    // Many providers leave groups out of the token, which has to stay small.
    if (!isComplete && hasMore)
      Object.assign(claims, await fetchUserInfo(configuration, tokens.access_token, String(claims['sub'])));
    return this.personOf(claims);
  }

  private personOf(claims: Record<string, unknown>): Person {
    const { OIDC_GROUPS_CLAIM: groups, OIDC_WORKSPACE_CLAIM: workspace } = this.settings;
    const memberOf = new Set([claims[groups]].flat());
    const scopes = Object.entries(roles).flatMap(([role, granted]) => {
      const group = this.groups[role as Role];
      return group !== undefined && memberOf.has(group) ? granted : [];
    });
    if (scopes.length === 0) throw new SignInRefused('noRole');
    const workspaceId = z.uuid().safeParse(claims[workspace] ?? this.settings.OIDC_WORKSPACE);
    if (!workspaceId.success) throw new SignInRefused('noWorkspace');
    const name = [claims['email'], claims['preferred_username'], claims['sub']].find(isText);
    return {
      subject: subject.parse(claims['sub']),
      name: String(name).slice(0, 200),
      workspaceId: workspaceId.data,
      scopes: [...new Set(scopes)],
    };
  }

  /** Reads what the provider publishes about itself. The next sign-in repeats a failed call. */
  private configuration(): Promise<Configuration> {
    if (this.found !== undefined && performance.now() - this.found.atMs < maxAgeMs)
      return this.found.configuration;
    const found = { configuration: this.discover(), atMs: performance.now() };
    this.found = found;
    found.configuration.catch(() => {
      if (this.found === found) this.found = undefined;
    });
    return found.configuration;
  }

  private discover(): Promise<Configuration> {
    const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret } = this.settings;
    if (issuer === undefined || id === undefined) throw new Error('no identity provider is configured');
    return discovery(new URL(issuer), id, {}, secret === undefined ? None() : ClientSecretPost(secret), {
      timeout: callSeconds,
      // The setting accepts http only for this machine.
      execute: issuer.startsWith('http:') ? [allowInsecureRequests] : [],
    });
  }
}

const isText = (claim: unknown): claim is string => typeof claim === 'string' && claim !== '';
