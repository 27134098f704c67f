import { z } from 'zod';

import type { TokenExchange } from '../contract.js';
import { rs256 } from './jwt.js';

/** The JSON key of a service account, as downloaded from the Google Cloud console. */
const accountKey = z.object({
  client_email: z.string().min(1),
  private_key: z.string().min(1),
  private_key_id: z.string().default(''),
  token_uri: z.url().default('https://oauth2.googleapis.com/token'),
});
const given = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() });

const lifeS = 3600;

export const readServiceAccount = (secret: string) => accountKey.parse(JSON.parse(secret));

/** RFC 7523: an assertion signed with the account's key is exchanged for a token that is valid for an hour. */
export const serviceAccount = (scope = 'https://www.googleapis.com/auth/cloud-platform'): TokenExchange => ({
  call(secret, nowMs) {
    const account = readServiceAccount(secret);
    const iat = Math.floor(nowMs / 1000);
    const assertion = rs256(account.private_key, account.private_key_id, {
      iss: account.client_email,
      scope,
      aud: account.token_uri,
      iat,
      exp: iat + lifeS,
    });
    const form = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion,
    });
    return {
      method: 'POST',
      url: account.token_uri,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: Buffer.from(form.toString()),
    };
  },
  read({ body }) {
    try {
      const { access_token, expires_in } = given.parse(JSON.parse(Buffer.from(body).toString()));
      return { token: access_token, lifeMs: expires_in * 1000 };
    } catch {
      return undefined;
    }
  },
});
