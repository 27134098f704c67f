import type { IncomingHttpHeaders } from 'node:http';
import type { Generation } from '#catalog';

export type Credential = { kind: 'api_key'; text: string } | { kind: 'access_token'; text: string };

const bearer = /^bearer +([^ ]+) *$/i;
/** Longer credentials are rejected before anything parses them. */
const maxCredentialLength = 4096;

/**
 * The credential that identifies the caller. v1 accepts only access tokens as Bearer; on v2 a key takes
 * precedence over a token.
 */
export function credentialOf(headers: IncomingHttpHeaders, generation: Generation): Credential | null {
  const key = headers['x-api-key'];
  if (generation === 'v2' && key !== undefined) return bounded({ kind: 'api_key', text: String(key) });
  const text = bearer.exec(headers.authorization ?? '')?.[1];
  if (text === undefined) return null;
  // Access tokens have two dots; keys have none.
  if (text.includes('.')) return bounded({ kind: 'access_token', text });
  return generation === 'v2' ? bounded({ kind: 'api_key', text }) : null;
}

const bounded = (credential: Credential): Credential | null =>
  credential.text.length > maxCredentialLength ? null : credential;
