import { accessTokenClaims, accessTokenSettings, readSettings } from '#schemas';
import { describe, expect, it } from '@jest/globals';
import { errors, jwtVerify } from 'jose';
import { issueToken } from './issue-token.js';

const workspaceId = '0190f3c4-0000-7000-8000-000000000001';
const secret = 'a-secret-of-more-than-32-characters-for-tests';
const settings = readSettings(accessTokenSettings, { JWT_SECRET: secret });
const key = new TextEncoder().encode(secret);
const demanded = { issuer: 'model-router', audience: 'model-router', algorithms: ['HS256'] };

describe('issueToken', () => {
  it('signs the claims that access tokens have', async () => {
    const { token, expiresAt } = await issueToken(
      { workspaceId, scopes: ['catalog', 'run'], subject: 'ci' },
      600,
      settings,
    );
    const { payload } = await jwtVerify(token, key, demanded);
    expect(accessTokenClaims.parse(payload)).toEqual({
      workspace: workspaceId,
      scope: 'catalog run',
      sub: 'ci',
    });
    expect(payload.exp).toBe(expiresAt.getTime() / 1000);
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(600);
  });

  it('is refused for another secret, issuer or audience', async () => {
    const { token } = await issueToken({ workspaceId, scopes: ['run'], subject: 'ci' }, 600, settings);
    const other = new TextEncoder().encode('another-secret-of-more-than-32-characters');
    await expect(jwtVerify(token, other, demanded)).rejects.toThrow(errors.JWSSignatureVerificationFailed);
    await expect(jwtVerify(token, key, { issuer: 'someone' })).rejects.toThrow(
      errors.JWTClaimValidationFailed,
    );
    await expect(jwtVerify(token, key, { audience: 'elsewhere' })).rejects.toThrow(
      errors.JWTClaimValidationFailed,
    );
  });

  it('has no settings without a secret that is long enough', () => {
    expect(() => readSettings(accessTokenSettings, {})).toThrow('JWT_SECRET');
    expect(() => readSettings(accessTokenSettings, { JWT_SECRET: 'short' })).toThrow('JWT_SECRET');
  });
});
