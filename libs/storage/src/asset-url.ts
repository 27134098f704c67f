import { isSigned, signatureOf } from '#schemas';

/** The path and query of a signed URL, as received. */
export interface AssetUrlClaim {
  key: string;
  expires: string;
  signature: string;
}

export function signAssetUrl(
  key: string,
  { baseUrl, expiresAtSeconds, secrets }: { baseUrl: string; expiresAtSeconds: number; secrets: string[] },
): string {
  const expires = String(expiresAtSeconds);
  const query = new URLSearchParams({ expires, signature: signatureOf(signedText(key, expires), secrets) });
  return `${baseUrl.replace(/(?<!\/)\/+$/, '')}/assets/${key}?${query.toString()}`;
}

/** Whether the claim is signed and has not expired. Forged and expired claims get the same result. */
export function verifyAssetUrl(
  { key, expires, signature }: AssetUrlClaim,
  { secrets, nowMs }: { secrets: readonly string[]; nowMs: number },
): boolean {
  const isOurs = isSigned(signedText(key, expires), signature, secrets);
  return isOurs && /^\d{1,12}$/.test(expires) && Number(expires) * 1000 > nowMs;
}

const signedText = (key: string, expires: string): string => `asset-url\n${expires}\n${key}`;

/** The maximum that S3 allows. */
export const maxSignedSeconds = 7 * 24 * 60 * 60;

export function signedSeconds(expiresInSeconds: number): number {
  if (Number.isInteger(expiresInSeconds) && expiresInSeconds >= 1 && expiresInSeconds <= maxSignedSeconds) {
    return expiresInSeconds;
  }
  throw new RangeError(
    `A signed URL must expire in 1 to ${maxSignedSeconds} seconds, not ${expiresInSeconds}`,
  );
}
