import type { HttpCall } from '../contract.js';
import { authorizationOf } from './signed-request.js';

/**
 * Tencent Cloud's signature v3 over media type, host and body. The time may differ from the provider's by at most five
 * minutes. The secret is `SecretId:SecretKey`. All actions of a service share one URL, so the signed path is always `/`,
 * even if the URL of a simulator has a longer path.
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
