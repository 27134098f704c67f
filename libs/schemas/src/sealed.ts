import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';

// Format of a sealed message: a version byte, the nonce, the tag and the ciphertext.
const algorithm = 'aes-256-gcm';
const version = 1;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes + tagBytes;

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** The result of HKDF's extract step (RFC 5869) by secret. It is the same for all purposes. */
const extracted = new Map<string, Buffer>();

/** The key of a purpose by HKDF-SHA256, so that a message cannot be opened for another purpose. */
function keyOf(secret: string, purpose: string): Buffer {
  const known = extracted.get(secret) ?? hmac(Buffer.alloc(32), secret);
  extracted.set(secret, known);
  return hmac(known, `${purpose}\u0001`);
}

/**
 * Encrypts and authenticates a message, so that a server that carries it and its users can neither read nor
 * forge one.
 */
export function seal(secret: string, purpose: string, plain: Uint8Array): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(secret, purpose), nonce, { authTagLength: tagBytes });
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([Buffer.from([version]), nonce, cipher.getAuthTag(), sealed]);
}

/** Returns the message, or null unless it was sealed for this purpose with one of the secrets. */
export function unseal(secrets: readonly string[], purpose: string, sealed: Buffer): Buffer | null {
  if (sealed.length < headBytes || sealed[0] !== version) return null;
  const nonce = sealed.subarray(1, 1 + nonceBytes);
  const tag = sealed.subarray(1 + nonceBytes, headBytes);
  for (const secret of secrets) {
    const decipher = createDecipheriv(algorithm, keyOf(secret, purpose), nonce, { authTagLength: tagBytes });
    decipher.setAuthTag(tag);
    const plain = decipher.update(sealed.subarray(headBytes));
    try {
      return Buffer.concat([plain, decipher.final()]);
    } catch {
      // Not sealed with this secret.
    }
  }
  return null;
}
