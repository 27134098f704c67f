import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const shape = /^rk_live_([0-9A-Za-z]{30})([0-9A-Za-z]{6})$/;
const prefixLength = 'rk_live_'.length + 8;

/**
 * A new API key: `rk_live_`, 30 random base62 characters and a checksum of 6, by which scanners recognize real
 * keys.
 */
export function newApiKey(): string {
  const random = Array.from({ length: 30 }, () => alphabet[randomInt(62)]).join('');
  return `rk_live_${random}${checksum(random)}`;
}

/** Whether the text can be an API key. The checksum catches typing errors without a database query. */
export function isApiKey(text: string): boolean {
  const match = shape.exec(text);
  return match?.[1] !== undefined && checksum(match[1]) === match[2];
}

/** The part of a key that may be logged. It identifies the row. */
export function keyPrefix(key: string): string {
  return key.slice(0, prefixLength);
}

/** A key has 178 random bits, so a plain SHA-256 cannot be reversed by brute force. */
export function keyHash(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function checksum(text: string): string {
  let rest = crc32(text) >>> 0;
  let digits = '';
  while (digits.length < 6) {
    digits = `${alphabet[rest % 62]}${digits}`;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
