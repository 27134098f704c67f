import type { HttpCall } from '../contract.js';
import { authorizationOf } from './signed-request.js';

/**
 * Signature v3 of Tencent Cloud over media type, host and body; the time must be the provider's by five minutes. The
 * secret is `SecretId:SecretKey`. All actions of a service have one address, so the path that is signed is always `/`,
 * whatever stands before it at a simulator.
 */
export const tc3 =
  (service: string) =>
  (secret: string, nowMs: number, call: HttpCall): Record<string, string> => {
    const { host, search } = new URL(call.url);
    const time = String(Math.floor(nowMs / 1000));
    const authorization = authorizationOf(secret, call, {
      algorithm: 'TC3-HMAC-SHA256',
      keyPrefix: 'TC3',
      time,
      scope: [new Date(nowMs).toISOString().slice(0, 10), service, 'tc3_request'],
      path: '/',
      query: search.slice(1),
      signed: { 'content-type': call.headers?.['content-type'] ?? '', host },
    });
    return { authorization, 'x-tc-timestamp': time };
  };
