import { accessTokenAlgorithm, accessTokenClaims } from '#schemas';
import {
  errors,
  type FlattenedJWSInput,
  flattenedVerify,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
} from 'jose';
import type { AuthSettings } from './settings.js';

/** Tolerated clock skew between the issuer and this gateway. */
export const clockToleranceS = 30;
/** Tokens with a longer key id are rejected before the key is looked up. */
const maxKeyIdLength = 256;
/**
 * Accepted `typ` headers. Identity providers sign other things, such as logout tokens, with the same keys.
 */
const accessTokenTypes: readonly unknown[] = [undefined, 'jwt', 'at+jwt', 'application/at+jwt'];

/**
 * Verifies access tokens that are signed with one of our secrets or with a key that `published` finds. Returns null
 * for a token that is malformed, forged, expired or meant for another audience. Throws `service_unavailable`
 * when the keys cannot be fetched.
 */
export class AccessTokens {
  private readonly secrets: readonly Uint8Array[];
  private readonly algorithms: string[];

  constructor(
    private readonly settings: AuthSettings,
    private readonly published?: JWTVerifyGetKey,
  ) {
    const { JWT_SECRET: secrets = [], JWT_JWKS_ALGORITHMS: algorithms } = settings;
    this.secrets = secrets.map((secret) => new TextEncoder().encode(secret));
    this.algorithms = [
      ...(this.secrets.length > 0 ? [accessTokenAlgorithm] : []),
      ...(published ? algorithms : []),
    ];
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
   * Only the admin command line signs with our secret, so its tokens may grant `operate`. An identity
   * provider may let its users choose the scopes, so for its tokens a group decides.
   */
  private scopesOf(scope: string, claims: JWTPayload, algorithm: string): string[] {
    const scopes = scope.split(' ').filter((each) => each !== '');
    if (algorithm === accessTokenAlgorithm) return scopes;
    const { JWT_OPERATOR_CLAIM: claim, JWT_OPERATOR_GROUP: group } = this.settings;
    const isOperator = group !== undefined && [claims[claim]].flat().includes(group);
    return [...scopes.filter((each) => each !== 'operate'), ...(isOperator ? ['operate'] : [])];
  }

  /** The algorithm selects the key, so a published key never verifies an HMAC, whatever the token says. */
  private readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    const [newest, former] = this.secrets;
    if (header.alg === accessTokenAlgorithm && newest) {
      // While the secret rotates, tokens signed with the old one are still in use.
      return former === undefined || (await isSignedWith(newest, token)) ? newest : former;
    }
    if (!this.published || (header.kid?.length ?? 0) > maxKeyIdLength) throw new errors.JWKSNoMatchingKey();
    return this.published(header, token);
  };
}

const isSignedWith = async (secret: Uint8Array, token: FlattenedJWSInput): Promise<boolean> =>
  flattenedVerify(token, secret, { algorithms: [accessTokenAlgorithm] }).then(
    () => true,
    () => false,
  );

const isIssuedLater = ({ iat = 0 }: JWTPayload): boolean => iat > Date.now() / 1000 + clockToleranceS;

/** A malformed published key surfaces as a TypeError or a DOMException. */
const isRefusal = (error: unknown): boolean =>
  error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException;
