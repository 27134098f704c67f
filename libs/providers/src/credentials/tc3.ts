import type { HttpCall } from '../contract.js';
import { hmac, sha256 } from './digests.js';

const algorithm = 'TC3-HMAC-SHA256';

/**
 * Signature v3 of Tencent Cloud over media type, host and body; the time must be the partner's by five minutes. The
 * secret is `SecretId:SecretKey`. All actions of a service have one address, so the path that is signed is always `/`,
 * whatever stands before it at a simulator.
 */
export const tc3 =
  (service: string) =>
  (
    secret: string,
    nowMs: number,
    { method, url, headers, body, pieces }: HttpCall,
  ): Record<string, string> => {
    if (pieces) throw new Error('a body that is read from the store while it is sent cannot be signed');
    const [id = '', key = ''] = secret.split(':', 2);
    const { host, search } = new URL(url);
    const timestamp = String(Math.floor(nowMs / 1000));
    const scope = [new Date(nowMs).toISOString().slice(0, 10), service, 'tc3_request'];
    const signed = { 'content-type': headers?.['content-type'] ?? '', host };
    const request = [
      method,
      '/',
      search.slice(1),
      ...Object.entries(signed).map(([name, value]) => `${name}:${value}`),
      '',
      Object.keys(signed).join(';'),
      sha256(body ?? ''),
    ];
    const text = [algorithm, timestamp, scope.join('/'), sha256(request.join('\n'))].join('\n');
    const signature = hmac(scope.reduce<string | Buffer>(hmac, `TC3${key}`), text).toString('hex');
    const credential = `Credential=${id}/${scope.join('/')}`;
    return {
      authorization: `${algorithm} ${credential}, SignedHeaders=${Object.keys(signed).join(';')}, Signature=${signature}`,
      'x-tc-timestamp': timestamp,
    };
  };
