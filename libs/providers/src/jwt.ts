import { createHmac, createSign } from 'node:crypto';

type Claims = Record<string, string | number>;

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

function mint(header: Record<string, string>, claims: Claims, sign: (text: string) => Buffer): string {
  const text = `${encode({ ...header, typ: 'JWT' })}.${encode(claims)}`;
  return `${text}.${sign(text).toString('base64url')}`;
}

export const hs256 = (secret: string, claims: Claims): string =>
  mint({ alg: 'HS256' }, claims, (text) => createHmac('sha256', secret).update(text).digest());

/** `key` is a private key in PEM; throws when it is none. */
export const rs256 = (key: string, keyId: string, claims: Claims): string =>
  mint({ alg: 'RS256', kid: keyId }, claims, (text) => createSign('RSA-SHA256').update(text).sign(key));
