import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * The HMAC signature of a text with the first secret, which is the newest. The text begins with its purpose,
 * because the same secret signs other things, which must not pass as this one.
 */
export function signatureOf(text: string, [secret]: readonly string[]): string {
  if (secret === undefined) throw new Error('No secret to sign with');
  return hmac(text, secret);
}

/**
 * Whether one of the secrets signed the text. It tries every secret, so that the time does not reveal which one
 * matched.
 */
export const isSigned = (text: string, signature: string, secrets: readonly string[]): boolean =>
  secrets.map((secret) => isSame(hmac(text, secret), signature)).includes(true);

const hmac = (text: string, secret: string): string =>
  createHmac('sha256', secret).update(text).digest('base64url');

// Compare the texts, not the decoded bytes: base64url has several encodings of the same bytes.
function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
