import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';
const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes + tagBytes;

/** A key for each run: what is sealed for one run does not open as another's. */
const keyOf = (secret: string, runId: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `signal of run ${runId}`, 32));

/**
 * Encrypts and authenticates what a signal carries: a version byte, the nonce, the tag and the ciphertext. Redis and
 * whoever reaches it can neither read it nor make one.
 */
export function seal(secret: string, runId: string, news: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(secret, runId), nonce, { authTagLength: tagBytes });
  const sealed = Buffer.concat([cipher.update(news), cipher.final()]);
  return Buffer.concat([Buffer.from([version]), nonce, cipher.getAuthTag(), sealed]);
}

/** Null for what none of the secrets has sealed for this run. */
export function unseal(secrets: readonly string[], runId: string, sealed: Buffer): Buffer | null {
  if (sealed.length < headBytes || sealed[0] !== version) return null;
  const nonce = sealed.subarray(1, 1 + nonceBytes);
  const tag = sealed.subarray(1 + nonceBytes, headBytes);
  for (const secret of secrets) {
    const decipher = createDecipheriv(algorithm, keyOf(secret, runId), nonce, { authTagLength: tagBytes });
    decipher.setAuthTag(tag);
    const news = decipher.update(sealed.subarray(headBytes));
    try {
      return Buffer.concat([news, decipher.final()]);
    } catch {
      // Sealed with another secret, or by nobody of ours.
    }
  }
  return null;
}
