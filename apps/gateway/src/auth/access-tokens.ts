import { accessTokenAlgorithm, accessTokenClaims } from '#schemas';
import { errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose';
import type { AuthSettings } from './settings.js';

/** Tolerated clock difference to the issuer. */
export const clockToleranceS = 30;
/** Tokens with a longer key id are refused before the key is looked up. */
const maxKeyIdLength = 256;
/** Identity providers sign other things with the same keys, such as logout notices. */
const accessTokenTypes: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];

/**
 * Verifies access tokens, signed with our secret or with a key that `published` finds; null for one that is
 * malformed, forged, expired or meant for another audience. Throws `service_unavailable` when the keys cannot be
 * fetched.
 */
export class AccessTokens {
  private readonly secret: Uint8Array | undefined;
  private readonly algorithms: string[];

  constructor(
    private readonly settings: AuthSettings,
    private readonly published?: JWTVerifyGetKey,
  ) {
    const { JWT_SECRET: secret, JWT_JWKS_ALGORITHMS: algorithms } = settings;
    this.secret = secret === undefined ? undefined : new TextEncoder().encode(secret);
    this.algorithms = [...(secret ? [accessTokenAlgorithm] : []), ...(published ? algorithms : [])];
  }

  async verify(token: string) {
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.keyOf, {
        algorithms: this.algorithms,
        issuer: this.settings.JWT_ISSUER,
        audience: this.settings.JWT_AUDIENCE,
        clockTolerance: clockToleranceS,
        requiredClaims: ['exp', 'sub', 'workspace'],
      });
      if (!accessTokenTypes.includes(protectedHeader.typ?.toLowerCase())) return null;
      const claims = accessTokenClaims.safeParse(payload);
      if (!claims.success || isIssuedLater(payload)) return null;
      return {
        workspaceId: claims.data.workspace,
        subject: claims.data.sub,
        scopes: this.scopesOf(claims.data.scope, payload, protectedHeader.alg),
        expiresAtMs: (payload.exp ?? 0) * 1000,
      };
    } catch (error) {
      if (isRefusal(error)) return null;
      throw error;
    }
  }

  /**
   * Only the operator's command line signs with our secret, and may grant `operate`. An identity provider may let its
   * users choose the scopes, so of its tokens a group decides.
   */
  private scopesOf(scope: string, claims: JWTPayload, algorithm: string): string[] {
    const scopes = scope.split(' ').filter((each) => each !== '');
    if (algorithm === accessTokenAlgorithm) return scopes;
    const { JWT_OPERATOR_CLAIM: claim, JWT_OPERATOR_GROUP: group } = this.settings;
    const isOperator = group !== undefined && [claims[claim]].flat().includes(group);
    return [...scopes.filter((each) => each !== 'operate'), ...(isOperator ? ['operate'] : [])];
  }

  /** The algorithm decides whose key counts: a published key never verifies an HMAC, whatever a token says. */
  private readonly keyOf: JWTVerifyGetKey = (header, token) => {
    if (header.alg === accessTokenAlgorithm && this.secret) return this.secret;
    if (!this.published || (header.kid?.length ?? 0) > maxKeyIdLength) throw new errors.JWKSNoMatchingKey();
    return this.published(header, token);
  };
}

const isIssuedLater = ({ iat = 0 }: JWTPayload): boolean => iat > Date.now() / 1000 + clockToleranceS;

/** A key that is published in a broken form shows as a TypeError or as a DOMException. */
const isRefusal = (error: unknown): boolean =>
  error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException;
