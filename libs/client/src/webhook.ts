import type { RunStatus } from './wire.js';

export interface WebhookEvent {
  type: 'run.completed';
  timestamp: string;
  data: RunStatus;
}

/** The request is not from the router, or is too old. Answer it with 400 and believe nothing in it. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

type HeadersLike = Headers | Record<string, string | string[] | undefined>;

const toleranceS = 300;

/**
 * The event that a request brings, verified as Standard Webhooks has it. `body` is the body as it came, before any
 * parsing; of two secrets, as during a rotation, either is good. An event may come more than once: `webhook-id`
 * stays the same. Throws a `TypeError` for a secret that is empty or no base64: that is a mistake of your configuration.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: HeadersLike,
  secret: string | readonly string[],
): Promise<WebhookEvent> {
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
  throw new WebhookVerificationError('No signature is of this secret.');
}

function headerOf(headers: HeadersLike, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  if (typeof value !== 'string') throw new WebhookVerificationError(`The header ${name} is missing.`);
  return value;
}

/** An empty key is one that everybody knows. */
function keyOf(secret: string, index: number): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  if (bytes.length === 0) throw new TypeError(`Secret ${index + 1} is empty, or no base64.`);
  return bytes;
}

/** Empty for what is no base64. */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
