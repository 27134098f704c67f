import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { bearerOf } from '../../keys.js';

const accessKey = 'simulated-access-key';
const secretKey = 'simulated-secret-key';

/** What an account holder is given. */
export const accountKey = `${accessKey}:${secretKey}`;

/** Whether the bearer token is signed with the account's secret key and good at this moment. */
export function holdsGoodToken(headers: IncomingHttpHeaders, nowMs: number): boolean {
  const [header = '', claims = '', signature = ''] = bearerOf(headers).split('.');
  const expected = createHmac('sha256', secretKey).update(`${header}.${claims}`).digest();
  const given = Buffer.from(signature, 'base64url');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
  const { alg } = read(header);
  const { iss, exp, nbf } = read(claims);
  const nowS = nowMs / 1000;
  return alg === 'HS256' && iss === accessKey && Number(exp) > nowS && Number(nbf) <= nowS;
}

const read = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
