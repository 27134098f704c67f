import type { HttpCall } from '../contract.js';
import { hmac, sha256 } from './digests.js';

const algorithm = 'AWS4-HMAC-SHA256';

/** Signature Version 4 of AWS over the whole call. The secret is `access key id:secret access key`. */
export const sigv4 =
  ({ service, region }: { service: string; region: string }) =>
  (
    secret: string,
    nowMs: number,
    { method, url, headers, body, pieces }: HttpCall,
  ): Record<string, string> => {
    if (pieces) throw new Error('a body that is read from the store while it is sent cannot be signed');
    const [id = '', key = ''] = secret.split(':', 2);
    const { host, pathname, searchParams } = new URL(url);
    const time = new Date(nowMs).toISOString().replaceAll(/[:-]|\.\d+/g, '');
    const scope = [time.slice(0, 8), region, service, 'aws4_request'];
    const type = headers?.['content-type'];
    const signed = { ...(type !== undefined && { 'content-type': type }), host, 'x-amz-date': time };
    const request = [
      method,
      pathname.split('/').map(encoded).join('/'),
      [...searchParams]
        .map((entry) => entry.map(encoded))
        .toSorted(
          ([one = '', first = ''], [other = '', second = '']) => order(one, other) || order(first, second),
        )
        .map((entry) => entry.join('='))
        .join('&'),
      ...Object.entries(signed).map(([name, value]) => `${name}:${value}`),
      '',
      Object.keys(signed).join(';'),
      sha256(body ?? ''),
    ];
    const text = [algorithm, time, scope.join('/'), sha256(request.join('\n'))].join('\n');
    const signature = hmac(scope.reduce<string | Buffer>(hmac, `AWS4${key}`), text).toString('hex');
    const credential = `Credential=${id}/${scope.join('/')}`;
    return {
      authorization: `${algorithm} ${credential}, SignedHeaders=${Object.keys(signed).join(';')}, Signature=${signature}`,
      'x-amz-date': time,
    };
  };

/** By code units, whatever the locale. */
const order = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

/** The segments of a path are encoded once more than in the address itself. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
