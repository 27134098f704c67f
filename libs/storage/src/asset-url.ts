import { createHmac, timingSafeEqual } from 'node:crypto';

/** What the path and the query of a signed URL say, as they arrived. */
export interface AssetUrlClaim {
  key: string;
  expires: string;
  signature: string;
}

/** `secrets`: the newest first; a URL is signed with that one and opens with any of them. */
export function signAssetUrl(
  key: string,
  { baseUrl, expiresAtSeconds, secrets }: { baseUrl: string; expiresAtSeconds: number; secrets: string[] },
): string {
  const [secret] = secrets;
  if (secret === undefined) throw new Error('No secret to sign asset URLs with');
  const expires = String(expiresAtSeconds);
  const query = new URLSearchParams({ expires, signature: signature(key, expires, secret) });
  return `${baseUrl.replace(/(?<!\/)\/+$/, '')}/assets/${key}?${query.toString()}`;
}

/** Whether the claim is signed and has not expired. A forged and an expired one are answered alike. */
export function verifyAssetUrl(
  claim: AssetUrlClaim,
  { secrets, nowMs }: { secrets: readonly string[]; nowMs: number },
): boolean {
  // Every secret is tried, so that the time taken does not reveal which one matched.
  const signed = secrets
    .map((secret) => same(signature(claim.key, claim.expires, secret), claim.signature))
    .includes(true);
  return signed && /^\d{1,12}$/.test(claim.expires) && Number(claim.expires) * 1000 > nowMs;
}

// The purpose is part of what is signed: the same secret signs other things, which must not open assets.
const signature = (key: string, expires: string, secret: string): string =>
  createHmac('sha256', secret).update(`asset-url\n${expires}\n${key}`).digest('base64url');

// Texts are compared, not decoded bytes: base64url has several encodings of the same bytes.
function same(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** S3 signs for no longer. */
export const maxSignedSeconds = 7 * 24 * 60 * 60;

export function signedSeconds(expiresInSeconds: number): number {
  if (Number.isInteger(expiresInSeconds) && expiresInSeconds >= 1 && expiresInSeconds <= maxSignedSeconds) {
    return expiresInSeconds;
  }
  throw new RangeError(`A signed URL lives 1 to ${maxSignedSeconds} seconds, not ${expiresInSeconds}`);
}
