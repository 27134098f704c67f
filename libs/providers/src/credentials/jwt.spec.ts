import { createVerify, generateKeyPairSync } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';

import { hs256, rs256 } from './jwt.js';

const read = (part = ''): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());

describe('hs256', () => {
  it('mints a token as in RFC 7515, the same for the same claims', () => {
    // Verified with another implementation.
    expect(hs256('secret', { iss: 'me', exp: 1800 })).toBe(
      'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJtZSIsImV4cCI6MTgwMH0.kScicO2M1tMTA3ciDSBciLtPMjbDgZ39ZURQXHZWT0U',
    );
  });
});

describe('rs256', () => {
  it('is verified by the public key, and names the key', () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const [header, claims, signature = ''] = rs256(privateKey, 'key-1', { iss: 'me' }).split('.');
    expect(read(header)).toEqual({ alg: 'RS256', kid: 'key-1', typ: 'JWT' });
    expect(read(claims)).toEqual({ iss: 'me' });
    const verified = createVerify('RSA-SHA256')
      .update(`${header}.${claims}`)
      .verify(publicKey, Buffer.from(signature, 'base64url'));
    expect(verified).toBe(true);
  });

  it('throws if the key is invalid', () => {
    expect(() => rs256('no key', 'key-1', {})).toThrow(/DECODER|key/i);
  });
});
