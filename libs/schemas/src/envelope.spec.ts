import { expect, it } from '@jest/globals';
import {
  encryptionKeySettings,
  encryptionPublicSettings,
  newEncryptionKeys,
  openEnvelope,
  rewrapEnvelope,
  sealEnvelope,
} from './envelope.js';
import { readSettings } from './settings.js';

const former = newEncryptionKeys();
const first = newEncryptionKeys();
const secret = 'sk-the-key-of-a-customer-ü';
const envelope = sealEnvelope(former.publicKey, 'row 1', secret);

const read = (ENCRYPTION_PUBLIC_KEY: string, ENCRYPTION_KEYS: string) =>
  readSettings(
    { ...encryptionPublicSettings, ...encryptionKeySettings },
    { ENCRYPTION_PUBLIC_KEY, ENCRYPTION_KEYS },
  );

it('opens with any of the private keys, and with no other', () => {
  expect(openEnvelope([first.privateKey, former.privateKey], 'row 1', envelope)).toBe(secret);
  expect(() => openEnvelope([first.privateKey], 'row 1', envelope)).toThrow(/does not contain the key/);
});

it('is bound to its context, and every byte of it counts', () => {
  expect(() => openEnvelope([former.privateKey], 'row 2', envelope)).toThrow(/belongs to another row/);
  for (const part of ['sealed', 'wrappedKey'] as const)
    for (const at of [0, 13, envelope[part].length - 1]) {
      const changed = Buffer.from(envelope[part]);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(() => openEnvelope([former.privateKey], 'row 1', { ...envelope, [part]: changed })).toThrow(
        /cannot be decrypted/,
      );
    }
});

it('moves to the first key without a change of the secret’s ciphertext', () => {
  const keys = [first.privateKey, former.privateKey];
  const moved = { ...envelope, ...rewrapEnvelope(keys, 'row 1', envelope) };
  expect(openEnvelope([first.privateKey], 'row 1', moved)).toBe(secret);
  expect(() => openEnvelope([former.privateKey], 'row 1', moved)).toThrow(/does not contain the key/);
});

it('never makes the same bytes twice', () => {
  const again = sealEnvelope(former.publicKey, 'row 1', secret);
  expect(again.sealed.equals(envelope.sealed)).toBe(false);
  expect(again.wrappedKey.equals(envelope.wrappedKey)).toBe(false);
});

it('says which setting is malformed, and never takes a private key for a public one', () => {
  expect(read(first.publicKey, `${first.privateKey}, ${former.privateKey}`)).toEqual({
    ENCRYPTION_PUBLIC_KEY: first.publicKey,
    ENCRYPTION_KEYS: [first.privateKey, former.privateKey],
  });
  expect(() => read(first.privateKey, former.privateKey)).toThrow(/ENCRYPTION_PUBLIC_KEY: must be a public/);
  expect(() => read(first.publicKey, 'enckey_short')).toThrow(/ENCRYPTION_KEYS: must be private keys/);
});
