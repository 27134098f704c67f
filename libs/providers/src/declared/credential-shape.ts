import { z } from 'zod';
import type { HttpCall, TokenExchange } from '../contract.js';
import { mintedToken } from '../credentials/jwt.js';
import { serviceAccount } from '../credentials/service-account.js';
import { sigv4 } from '../credentials/sigv4.js';
import { tc3 } from '../credentials/tc3.js';

const service = z.string().min(1).describe('The name of the service, as in its host name.');

/** Credentials that are made for each call, or exchanged for a token that expires. */
export const credential = z.union([
  z.strictObject({
    tc3: z
      .strictObject({ service })
      .describe(
        'Signs each call with TC3-HMAC-SHA256 of Tencent Cloud. The key has the form `SecretId:SecretKey`.',
      ),
  }),
  z.strictObject({
    sigv4: z
      .strictObject({ service, region: z.string().min(1).describe('The region, as in its host name.') })
      .describe(
        'Signs each call with AWS Signature Version 4. The key has the form `access key id:secret access key`.',
      ),
  }),
  z.strictObject({
    jwt: z
      .strictObject({
        ttl_seconds: z
          .number()
          .positive()
          .max(86_400)
          .default(1800)
          .describe('The lifetime of a token, in seconds.'),
      })
      .describe(
        'Sends a bearer token (HS256), created for each call from a key of the form `access key:secret key`. A key without a colon is sent unchanged.',
      ),
  }),
  z.strictObject({
    google_service_account: z
      .strictObject({
        scope: z.url().optional().describe('The OAuth scope. Defaults to the whole cloud platform.'),
      })
      .describe('Sends a bearer token, obtained with the key, which is the JSON of a service account.'),
  }),
]);

type Credential = z.infer<typeof credential>;

/** Whether the signature covers the body. */
export const signsBody = (named: Credential): boolean => 'tc3' in named || 'sigv4' in named;

export function exchangeOf(named: Credential): TokenExchange | undefined {
  return 'google_service_account' in named ? serviceAccount(named.google_service_account.scope) : undefined;
}

/** The header fields that authenticate a call; with an exchange, `secret` is the token. */
export function headersOf(
  named: Credential,
): (secret: string, nowMs: number, call: HttpCall) => Record<string, string> {
  if ('tc3' in named) return tc3(named.tc3.service);
  if ('sigv4' in named) return sigv4(named.sigv4);
  if ('jwt' in named) return mintedToken(named.jwt.ttl_seconds);
  return (token) => ({ authorization: `Bearer ${token}` });
}
