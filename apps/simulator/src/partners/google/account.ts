import { createVerify, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { bearerOf } from '../../keys.js';
import type { Partner, Reply } from '../../partner.js';

/** Shorter than the assertion, so that a moved clock ends the one and not the other. */
const lifeS = 1800;
const refused: Reply = {
  status: 400,
  body: { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' },
};

type Door = NonNullable<Partner['doors']>[number];

/** One service account: its key, which is made when somebody asks for it, and the tokens it was given. */
export function createAccount(): {
  keyFor(this: void, api: string): string;
  authorized(this: void, headers: IncomingHttpHeaders, nowMs: number): boolean;
  door: Door;
} {
  const email = 'router@simulated.iam.gserviceaccount.example';
  const expiresAtMs = new Map<string, number>();
  let pair: { publicKey: string; privateKey: string } | undefined;
  const keys = () =>
    (pair ??= generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    }));

  return {
    keyFor: (api) =>
      JSON.stringify({
        type: 'service_account',
        project_id: 'simulated',
        private_key_id: 'key-1',
        private_key: keys().privateKey,
        client_email: email,
        token_uri: `${api}/token`,
      }),
    authorized: (headers, nowMs) => (expiresAtMs.get(bearerOf(headers)) ?? 0) > nowMs,
    door: {
      method: 'POST',
      path: '/token',
      answer({ body, url, nowMs }) {
        const form = new URLSearchParams(body.toString());
        const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
        const good = createVerify('RSA-SHA256')
          .update(`${header}.${claims}`)
          .verify(keys().publicKey, Buffer.from(signature, 'base64url'));
        if (!good || form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return refused;
        const { iss, aud, exp, scope } = JSON.parse(Buffer.from(claims, 'base64url').toString());
        const fits =
          iss === email && aud === url && exp * 1000 > nowMs && String(scope).endsWith('cloud-platform');
        if (!fits) return refused;
        const token = `ya29.${randomUUID()}`;
        expiresAtMs.set(token, nowMs + lifeS * 1000);
        return { status: 200, body: { access_token: token, expires_in: lifeS, token_type: 'Bearer' } };
      },
    },
  };
}
