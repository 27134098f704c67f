import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { z } from 'zod';
import { list } from './settings.js';

/**
 * A secret encrypted with a data key of its own (AES-256-GCM), and the data key wrapped to a public key: by X25519
 * with a fresh key pair, HKDF-SHA-256 and AES-256-GCM.
 */
export interface Envelope {
  /** Nonce, ciphertext and tag of the secret. */
  sealed: Buffer;
  /** The fresh public key, then nonce, ciphertext and tag of the data key. */
  wrappedKey: Buffer;
  /** The fingerprint of the public key. */
  wrappedFor: string;
}

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const info = 'model-router data key';

const publicPrefix = 'encpub_';
const privatePrefix = 'enckey_';
/** DER begins like this before the 32 bytes of an X25519 key. */
const spki = Buffer.from('302a300506032b656e032100', 'hex');
const pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex');

const keyText = (prefix: string) => new RegExp(`^${prefix}[\\w-]{43}$`);
const publicText = keyText(publicPrefix);
const privateText = keyText(privatePrefix);

const publicKeyOf = (text: string): KeyObject =>
  createPublicKey({ key: Buffer.concat([spki, rawKey(text)]), format: 'der', type: 'spki' });

const privateKeyOf = (text: string): KeyObject =>
  createPrivateKey({ key: Buffer.concat([pkcs8, rawKey(text)]), format: 'der', type: 'pkcs8' });

const rawKey = (text: string): Buffer => Buffer.from(text.slice(publicPrefix.length), 'base64url');

const rawPublic = (key: KeyObject): Buffer =>
  (key.type === 'public' ? key : createPublicKey(key))
    .export({ format: 'der', type: 'spki' })
    .subarray(-keyBytes);

const fingerprintOf = (rawPublicKey: Buffer): string =>
  createHash('sha256').update(rawPublicKey).digest('hex').slice(0, 16);

/** The texts of a new key pair, for `ENCRYPTION_PUBLIC_KEY` and `ENCRYPTION_KEYS`. */
export function newEncryptionKeys(): { publicKey: string; privateKey: string } {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-keyBytes);
  return {
    publicKey: publicPrefix + rawPublic(publicKey).toString('base64url'),
    privateKey: privatePrefix + secret.toString('base64url'),
  };
}

/** The public key of gateways, which can encrypt but not decrypt. */
export const encryptionPublicSettings = {
  ENCRYPTION_PUBLIC_KEY: z
    .string()
    .regex(
      publicText,
      `must be a public key of \`admin encryption-key create\`, which begins with ${publicPrefix}`,
    )
    .optional()
    .meta({
      description:
        'Public key that encrypts the provider keys of workspaces, from `admin encryption-key create`. If unset, workspaces cannot store provider keys.',
      example: 'encpub_replace-me-replace-me-replace-me-replace-me',
    }),
};

export type EncryptionSettings = z.infer<z.ZodObject<typeof encryptionPublicSettings>>;

/** The private keys of workers. */
export const encryptionKeySettings = {
  ENCRYPTION_KEYS: list()
    .refine(
      (keys) => keys.every((key) => privateText.test(key)),
      `must be private keys of \`admin encryption-key create\`, which begin with ${privatePrefix}, separated by commas`,
    )
    .meta({
      description:
        'Private keys that decrypt the provider keys of workspaces, separated by commas. The first belongs to ENCRYPTION_PUBLIC_KEY of the gateways, later ones are former keys. Gateways must not have them.',
      example: 'enckey_replace-me-replace-me-replace-me-replace-me',
    }),
};

/** Encrypts a secret. It can be opened only with the same `context`, which binds it to its row. */
export function sealEnvelope(publicKey: string, context: string, secret: string): Envelope {
  const dataKey = randomBytes(keyBytes);
  return {
    sealed: encrypt(dataKey, context, Buffer.from(secret)),
    ...wrap(rawPublic(publicKeyOf(publicKey)), context, dataKey),
  };
}

/** Thrown for a secret that none of the keys opens. */
export class CannotDecrypt extends Error {
  constructor(why: string) {
    super(`A stored provider key cannot be decrypted: ${why}.`);
    this.name = 'CannotDecrypt';
  }
}

/** Decrypts with the key that the envelope was made for. Throws `CannotDecrypt`. */
export const openEnvelope = (privateKeys: readonly string[], context: string, envelope: Envelope): string =>
  decrypt(dataKeyOf(privateKeys, context, envelope), context, envelope.sealed).toString();

/** Wraps the data key to the public key of the first private key. Throws `CannotDecrypt`. */
export function rewrapEnvelope(
  privateKeys: readonly string[],
  context: string,
  envelope: Envelope,
): Omit<Envelope, 'sealed'> {
  const [first = ''] = privateKeys;
  return wrap(rawPublic(privateKeyOf(first)), context, dataKeyOf(privateKeys, context, envelope));
}

/** The fingerprint of a private key's public key. */
export const fingerprintOfKey = (privateKey: string): string =>
  fingerprintOf(rawPublic(privateKeyOf(privateKey)));

function wrap(recipient: Buffer, context: string, dataKey: Buffer): Omit<Envelope, 'sealed'> {
  const fresh = generateKeyPairSync('x25519');
  const freshPublic = rawPublic(fresh.publicKey);
  const key = wrappingKey(fresh.privateKey, recipient, freshPublic, recipient);
  return {
    wrappedKey: Buffer.concat([freshPublic, encrypt(key, context, dataKey)]),
    wrappedFor: fingerprintOf(recipient),
  };
}

function dataKeyOf(
  privateKeys: readonly string[],
  context: string,
  { wrappedKey, wrappedFor }: Envelope,
): Buffer {
  for (const text of privateKeys) {
    const own = privateKeyOf(text);
    const recipient = rawPublic(own);
    if (fingerprintOf(recipient) !== wrappedFor) continue;
    const freshPublic = wrappedKey.subarray(0, keyBytes);
    const key = wrappingKey(own, freshPublic, freshPublic, recipient);
    return decrypt(key, context, wrappedKey.subarray(keyBytes));
  }
  throw new CannotDecrypt(`ENCRYPTION_KEYS does not contain the key with the fingerprint ${wrappedFor}`);
}

/** Both public keys go into the derivation, so that a wrapped key belongs to one pair of them. */
function wrappingKey(own: KeyObject, other: Buffer, freshPublic: Buffer, recipient: Buffer): Buffer {
  const shared = diffieHellman({
    privateKey: own,
    publicKey: createPublicKey({ key: Buffer.concat([spki, other]), format: 'der', type: 'spki' }),
  });
  return Buffer.from(hkdfSync('sha256', shared, Buffer.concat([freshPublic, recipient]), info, keyBytes));
}

function encrypt(key: Buffer, context: string, plain: Buffer): Buffer {
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(context));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, context: string, box: Buffer): Buffer {
  try {
    const decipher = createDecipheriv(algorithm, key, box.subarray(0, nonceBytes))
      .setAAD(Buffer.from(context))
      .setAuthTag(box.subarray(-tagBytes));
    return Buffer.concat([decipher.update(box.subarray(nonceBytes, -tagBytes)), decipher.final()]);
  } catch {
    throw new CannotDecrypt('it was changed, or belongs to another row');
  }
}
