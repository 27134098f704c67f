import { createHmac, createSign } from 'node:crypto';

type Claims = Record<string, string | number>;

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

function mint(header: Record<string, string>, claims: Claims, sign: (text: string) => Buffer): string {
  const text = `${encode({ ...header, typ: 'JWT' })}.${encode(claims)}`;
  return `${text}.${sign(text).toString('base64url')}`;
}

export const hs256 = (secret: string, claims: Claims): string =>
  mint({ alg: 'HS256' }, claims, (text) => createHmac('sha256', secret).update(text).digest());

/** `key` is a private key in PEM format; throws if it is not. */
export const rs256 = (key: string, keyId: string, claims: Claims): string =>
  mint({ alg: 'RS256', kid: keyId }, claims, (text) => createSign('RSA-SHA256').update(text).sign(key));

/** The provider's clock may be behind ours. */
const leewayS = 5;

/**
 * Mints a token for each call from `access key:secret key`. A key without a colon is sent unchanged: accounts at such
 * providers have one kind or the other.
 */
export const mintedToken =
  (lifeS: number) =>
  (secret: string, nowMs: number): Record<string, string> => {
    const [accessKey = '', secretKey] = secret.split(':', 2);
    if (secretKey === undefined) return { authorization: `Bearer ${secret}` };
    const nowS = Math.floor(nowMs / 1000);
    const token = hs256(secretKey, { iss: accessKey, exp: nowS + lifeS, nbf: nowS - leewayS });
    return { authorization: `Bearer ${token}` };
  };
