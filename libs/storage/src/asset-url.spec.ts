import { describe, expect, it } from '@jest/globals';
import { signAssetUrl, verifyAssetUrl } from './asset-url.js';

const secrets = ['new'.repeat(12), 'old'.repeat(12)];
const nowMs = 1_800_000_000_000;
const baseUrl = 'https://router.example.com/';

function claimOf(url: string) {
  const { pathname, searchParams } = new URL(url);
  return {
    key: pathname.replace('/assets/', ''),
    expires: searchParams.get('expires') ?? '',
    signature: searchParams.get('signature') ?? '',
  };
}

const signed = (by: string[]) =>
  claimOf(signAssetUrl('runs/1/0.png', { baseUrl, expiresAtSeconds: nowMs / 1000 + 60, secrets: by }));

describe('a signed asset URL', () => {
  it('starts with the base URL and has the key as its path', () => {
    const url = signAssetUrl('runs/1/0.png', { baseUrl, expiresAtSeconds: 1_800_000_060, secrets });
    expect(url).toMatch(
      /^https:\/\/router\.example\.com\/assets\/runs\/1\/0\.png\?expires=1800000060&signature=[\w-]{43}$/,
    );
  });

  it('is valid until the second in which it expires', () => {
    expect(verifyAssetUrl(signed(secrets), { secrets, nowMs: nowMs + 59_999 })).toBe(true);
    expect(verifyAssetUrl(signed(secrets), { secrets, nowMs: nowMs + 60_000 })).toBe(false);
  });

  it('is valid with the old secret during a rotation, and not afterwards', () => {
    const old = signed(secrets.slice(1));
    expect(verifyAssetUrl(old, { secrets, nowMs })).toBe(true);
    expect(verifyAssetUrl(old, { secrets: secrets.slice(0, 1), nowMs })).toBe(false);
  });

  it.each([
    ['key', { key: 'runs/2/0.png' }],
    ['expiry', { expires: '1800000061' }],
    ['notation of the expiry', { expires: '01800000060' }],
    ['missing expiry', { expires: '' }],
    ['missing signature', { signature: '' }],
    ['longer signature', { signature: `${signed(secrets).signature}A` }],
  ])('is rejected with another %s', (_what, forged) => {
    expect(verifyAssetUrl({ ...signed(secrets), ...forged }, { secrets, nowMs })).toBe(false);
  });

  it('cannot be created without a secret', () => {
    expect(() => signed([])).toThrow('No secret');
  });
});
