import { beforeAll, describe, expect, it } from '@jest/globals';
import { readSettings } from '#schemas';
import {
  createLocalJWKSet,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type GenerateKeyPairResult,
  type JWK,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { AccessTokens } from './access-tokens.js';
import { type AuthSettings, authSettings } from './settings.js';

const secret = 'a-secret-of-tests-for-access-tokens-00';
const workspace = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
const settings = readSettings(authSettings, {
  JWT_SECRET: secret,
  JWT_JWKS_URL: 'https://login.example.com/jwks',
});
const { JWT_SECRET: _secret, ...withoutSecret } = settings;
const good = { workspaceId: workspace, subject: 'tester', scopes: ['run'] };

const pairs: Record<string, GenerateKeyPairResult> = {};
const jwks: JWK[] = [];
let lookedUp: (string | undefined)[];
const published = async (header: { alg?: string; kid?: string }) => {
  lookedUp.push(header.kid);
  return createLocalJWKSet({ keys: jwks })(header);
};
beforeAll(async () => {
  for (const alg of ['RS256', 'ES256', 'EdDSA', 'ES384']) {
    const pair = await generateKeyPair(alg, { extractable: true });
    pairs[alg] = pair;
    // As in many key sets, the key does not state its use, so our code must check the algorithm.
    jwks.push({ ...(await exportJWK(pair.publicKey)), kid: alg });
  }
});
const pairOf = (alg: string): GenerateKeyPairResult => {
  const pair = pairs[alg];
  if (pair === undefined) throw new Error(`no pair for ${alg}`);
  return pair;
};

async function signed(
  header: JWTHeaderParameters,
  key: Parameters<SignJWT['sign']>[0] = pairOf(header.alg).privateKey,
  { issuer = 'model-router', audience = 'model-router', expires = '5m', issued = '0s', sub = 'tester' } = {},
  claims: JWTPayload = {},
): Promise<string> {
  return new SignJWT({ workspace, scope: 'run', sub, ...claims })
    .setProtectedHeader(header)
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt(issued)
    .setExpirationTime(expires)
    .sign(key);
}

const verify = async (token: string, tokens = new AccessTokens(settings, published)) => {
  lookedUp = [];
  return tokens.verify(token);
};

describe('AccessTokens', () => {
  it.each(['RS256', 'ES256', 'EdDSA'])('accept a token signed with %s by a published key', async (alg) => {
    expect(await verify(await signed({ alg, kid: alg }))).toMatchObject(good);
    expect(await verify(await signed({ alg, kid: alg, typ: 'at+jwt' }))).toMatchObject(good);
  });

  it('also accept a token signed with our secret', async () => {
    const token = await signed({ alg: 'HS256' }, new TextEncoder().encode(secret));
    expect(await verify(token)).toMatchObject(good);
    expect(lookedUp).toEqual([]);
    expect(await verify(token, new AccessTokens(withoutSecret, published))).toBeNull();
  });

  it('accept every secret while the secret rotates, and the old one no longer after that', async () => {
    const next = 'the-next-secret-of-tests-for-access-tokens';
    const tokens = await Promise.all(
      [secret, next, 'a-secret-that-this-gateway-never-had-000'].map((each) =>
        signed({ alg: 'HS256' }, new TextEncoder().encode(each)),
      ),
    );
    const accepted = async (...secrets: string[]) => {
      const { JWT_SECRET } = readSettings(authSettings, { JWT_SECRET: secrets.join(', ') });
      const ofSecrets = new AccessTokens({ ...withoutSecret, JWT_SECRET }, published);
      return Promise.all(tokens.map(async (token) => (await verify(token, ofSecrets)) !== null));
    };
    expect(await accepted(secret)).toEqual([true, false, false]);
    expect(await accepted(secret, next)).toEqual([true, true, false]);
    expect(await accepted(next, secret)).toEqual([true, true, false]);
    expect(await accepted(next)).toEqual([false, true, false]);
    expect(lookedUp).toEqual([]);
  });

  it('reject a token signed with a public key as the secret', async () => {
    const { publicKey } = pairOf('RS256');
    const { n = '' } = await exportJWK(publicKey);
    for (const text of [await exportSPKI(publicKey), n, JSON.stringify(jwks[0])]) {
      const token = await signed({ alg: 'HS256', kid: 'RS256' }, new TextEncoder().encode(text));
      expect(await verify(token)).toBeNull();
      expect(await verify(token, new AccessTokens(withoutSecret, published))).toBeNull();
    }
  });

  it('reject an unsigned token', async () => {
    const [, payload] = (await signed({ alg: 'RS256', kid: 'RS256' })).split('.');
    for (const alg of ['none', 'None', '']) {
      const header = Buffer.from(JSON.stringify({ alg, kid: 'RS256' })).toString('base64url');
      expect(await verify(`${header}.${payload}.`)).toBeNull();
    }
    expect(lookedUp).toEqual([]);
  });

  it.each([
    ['an algorithm that is not listed', { alg: 'ES384', kid: 'ES384' }],
    ['another key’s id', { alg: 'RS256', kid: 'ES256' }],
    ['an unknown key id', { alg: 'RS256', kid: 'unknown' }],
    ['the type of another kind of token', { alg: 'RS256', kid: 'RS256', typ: 'logout+jwt' }],
  ])('reject %s', async (_what, header) => {
    expect(await verify(await signed(header))).toBeNull();
  });

  it('reject a token for another audience, from another issuer, or that has expired', async () => {
    const header = { alg: 'ES256', kid: 'ES256' };
    for (const wrong of [{ issuer: 'another' }, { audience: 'another' }, { expires: '-2m' }]) {
      expect(await verify(await signed(header, undefined, wrong))).toBeNull();
    }
    // Within the clock tolerance.
    expect(await verify(await signed(header, undefined, { expires: '-20s' }))).toMatchObject(good);
  });

  it('reject a token issued in the future', async () => {
    const header = { alg: 'ES256', kid: 'ES256' };
    expect(await verify(await signed(header, undefined, { issued: '60s' }))).toBeNull();
    expect(await verify(await signed(header, undefined, { issued: '20s' }))).toMatchObject(good);
  });

  it.each([
    ['NUL', 'a\0b'],
    ['ESC', '\u001b[2J'],
    ['a line break', 'a\nb'],
    ['half of a surrogate pair', 'a\ud800b'],
    ['more than 200 characters', 'x'.repeat(201)],
    ['nothing', ''],
  ])('reject a subject with %s', async (_what, sub) => {
    expect(await verify(await signed({ alg: 'ES256', kid: 'ES256' }, undefined, { sub }))).toBeNull();
  });

  it('accept a subject in any language', async () => {
    const token = await signed({ alg: 'ES256', kid: 'ES256' }, undefined, { sub: 'Žofie 🐈' });
    expect(await verify(token)).toMatchObject({ subject: 'Žofie 🐈' });
  });

  it('ignore a key embedded in the token', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    expect(await verify(await signed({ alg: 'ES256', kid: 'mine', jwk }, privateKey))).toBeNull();
    expect(await verify(await signed({ alg: 'ES256', kid: 'ES256', jwk }, privateKey))).toBeNull();
  });

  describe('and the scope `operate`', () => {
    const header = { alg: 'RS256', kid: 'RS256' };
    const grouped = { ...settings, JWT_OPERATOR_CLAIM: 'roles', JWT_OPERATOR_GROUP: 'ops' };
    const scopesOf = async (claims: JWTPayload, by: AuthSettings = grouped) =>
      (await verify(await signed(header, undefined, {}, claims), new AccessTokens(by, published)))?.scopes;

    it.each([
      ['a list with the operator group', { roles: ['users', 'ops'] }, ['run', 'operate']],
      ['the operator group as text', { roles: 'ops' }, ['run', 'operate']],
      ['another group', { roles: ['users', 'devops'] }, ['run']],
      ['the group in another claim', { groups: ['ops'] }, ['run']],
      ['no group', {}, ['run']],
      ['a scope that the holder chose', { scope: 'run operate' }, ['run']],
      ['a scope and the group', { scope: 'operate run', roles: ['ops'] }, ['run', 'operate']],
    ])('an identity provider’s token with %s', async (_what, claims, scopes) => {
      expect(await scopesOf(claims)).toEqual(scopes);
    });

    it('no group grants it unless one is configured', async () => {
      expect(await scopesOf({ scope: 'operate', groups: ['undefined'] }, settings)).toEqual([]);
    });

    it('a token signed with our secret may have it', async () => {
      const secretKey = new TextEncoder().encode(secret);
      const token = await signed({ alg: 'HS256' }, secretKey, {}, { scope: 'operate' });
      expect(await verify(token)).toMatchObject({ scopes: ['operate'] });
    });
  });

  it('do not look up an overlong key id', async () => {
    expect(await verify(await signed({ alg: 'RS256', kid: 'x'.repeat(257) }))).toBeNull();
    expect(lookedUp).toEqual([]);
  });
});
