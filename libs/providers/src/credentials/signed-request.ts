import { createHash, createHmac } from 'node:crypto';
import type { HttpCall } from '../contract.js';

interface Signing {
  algorithm: string;
  /** The prefix of the secret key when it signs the first part of the scope. */
  keyPrefix: string;
  /** The time of the call, in the format that the provider hashes. */
  time: string;
  /** The day, the service and other limits of the signing key, in order. */
  scope: readonly string[];
  path: string;
  query: string;
  /** The signed header fields, sorted by name. */
  signed: Readonly<Record<string, string>>;
}

/**
 * The `Authorization` of a call signed by the scheme of AWS, which others have adopted: a digest of the call, signed with
 * a key that is derived step by step from the scope. The secret is `key id:secret key`.
 */
export function authorizationOf(
  secret: string,
  { method, body, pieces }: HttpCall,
  { algorithm, keyPrefix, time, scope, path, query, signed }: Signing,
): string {
  if (pieces) throw new Error('a body that is read from the store while it is sent cannot be signed');
  const [id = '', key = ''] = secret.split(':', 2);
  const names = Object.keys(signed).join(';');
  const request = [
    method,
    path,
    query,
    ...Object.entries(signed).map(([name, value]) => `${name}:${value}`),
    '',
    names,
    sha256(body ?? ''),
  ];
  const text = [algorithm, time, scope.join('/'), sha256(request.join('\n'))].join('\n');
  const signature = hmac(scope.reduce<string | Buffer>(hmac, `${keyPrefix}${key}`), text).toString('hex');
  return `${algorithm} Credential=${id}/${scope.join('/')}, SignedHeaders=${names}, Signature=${signature}`;
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');
