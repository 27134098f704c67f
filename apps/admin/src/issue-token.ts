import { accessTokenAlgorithm, type accessTokenClaims, type accessTokenSettings, type Scope } from '#schemas';
import { SignJWT } from 'jose';
import type { z } from 'zod';

type Settings = z.infer<z.ZodObject<typeof accessTokenSettings>>;

/** Signs the token that the gateways verify; `ttlSeconds` counts from this machine's clock. */
export async function issueToken(
  holder: { workspaceId: string; scopes: readonly Scope[]; subject: string },
  ttlSeconds: number,
  settings: Settings,
): Promise<{ token: string; expiresAt: Date }> {
  const issuedAtSeconds = Math.floor(Date.now() / 1000);
  const expiresAtSeconds = issuedAtSeconds + ttlSeconds;
  const claims = {
    workspace: holder.workspaceId,
    scope: holder.scopes.join(' '),
    sub: holder.subject,
  } satisfies z.input<typeof accessTokenClaims>;
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: accessTokenAlgorithm, typ: 'JWT' })
    .setIssuer(settings.JWT_ISSUER)
    .setAudience(settings.JWT_AUDIENCE)
    .setIssuedAt(issuedAtSeconds)
    .setExpirationTime(expiresAtSeconds)
    .sign(new TextEncoder().encode(settings.JWT_SECRET));
  return { token, expiresAt: new Date(expiresAtSeconds * 1000) };
}
