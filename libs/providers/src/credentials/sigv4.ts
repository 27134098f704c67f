import type { HttpCall } from '../contract.js';
import { authorizationOf } from './signed-request.js';

/** AWS Signature Version 4 over the whole call. The secret is `access key id:secret access key`. */
export const sigv4 =
  ({ service, region }: { service: string; region: string }) =>
  (secret: string, nowMs: number, call: HttpCall): Record<string, string> => {
    const { host, pathname, searchParams } = new URL(call.url);
    const time = new Date(nowMs).toISOString().replaceAll(/[:-]|\.\d+/g, '');
    const type = call.headers?.['content-type'];
    const authorization = authorizationOf(secret, call, {
      algorithm: 'AWS4-HMAC-SHA256',
      keyPrefix: 'AWS4',
      time,
      scope: [time.slice(0, 8), region, service, 'aws4_request'],
      path: pathname.split('/').map(encoded).join('/'),
      query: [...searchParams]
        .map((entry) => entry.map(encoded))
        .toSorted(
          ([one = '', first = ''], [other = '', second = '']) => order(one, other) || order(first, second),
        )
        .map((entry) => entry.join('='))
        .join('&'),
      signed: { ...(type !== undefined && { 'content-type': type }), host, 'x-amz-date': time },
    });
    return { authorization, 'x-amz-date': time };
  };

/** Compares by code unit, in every locale. */
const order = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

/** Path segments are encoded once more than in the URL. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
