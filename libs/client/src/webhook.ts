import type { RunStatus } from './wire.js';

export interface WebhookEvent {
  type: 'run.completed';
  timestamp: string;
  data: RunStatus;
  /** The tags and the end user of the run, if its call named them. */
  tags?: Record<string, string>;
  user?: string;
}

/** The request is not from the router, or is too old. Respond with 400 and do not trust its content. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

export type HeadersLike = Headers | Record<string, string | string[] | undefined>;

const toleranceS = 300;

export const notRaw =
  'The signature is over the raw body, but this one was parsed: verify the webhook before anything parses its body.';

/**
 * Verifies a webhook request as Standard Webhooks specifies, and returns its event. `body` is the raw body, before any
 * parsing. During a rotation, pass both secrets; a signature by either is valid. An event may arrive more than once,
 * with the same `webhook-id`. Throws a `TypeError` if the body was parsed, or if a secret is empty or not base64, which
 * are errors in your configuration.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: HeadersLike,
  secret: string | readonly string[],
): Promise<WebhookEvent> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) throw new TypeError(notRaw);
  const keys = [secret].flat().map(keyOf);
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const ageS = Date.now() / 1000 - Number(timestamp);
  if (!(Math.abs(ageS) <= toleranceS))
    throw new WebhookVerificationError('The timestamp is too far from now.');
  const signatures = headerOf(headers, 'webhook-signature').split(' ');
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const bytes of keys) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
    for (const signature of signatures) {
      const [version, code = ''] = signature.split(',');
      // Compares in constant time.
      if (version === 'v1' && (await crypto.subtle.verify('HMAC', key, fromBase64(code), signed)))
        return JSON.parse(text) as WebhookEvent;
    }
  }
  throw new WebhookVerificationError('No signature matches the secret.');
}

function headerOf(headers: HeadersLike, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  if (typeof value !== 'string') throw new WebhookVerificationError(`The header ${name} is missing.`);
  return value;
}

/** Rejects an empty key, because anyone could sign with it. */
function keyOf(secret: string, index: number): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  if (bytes.length === 0) throw new TypeError(`Secret ${index + 1} is empty or not base64.`);
  return bytes;
}

/** Empty if the text is not base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
