import { describe, expect, it } from '@jest/globals';
import { Fingerprint, idempotencyKey } from './idempotency-key.js';

describe('idempotencyKey', () => {
  it.each([undefined, 'a', '!~', 'k'.repeat(255)])('takes %j', (key) => {
    expect(idempotencyKey({ 'idempotency-key': key })).toBe(key);
  });

  it.each(['', ' ', 'a b', 'a\t', 'é', 'k'.repeat(256), 'one, two'])('refuses %j', (key) => {
    expect(() => idempotencyKey({ 'idempotency-key': key })).toThrow('visible ASCII');
  });
});

function fingerprint(method: string, url: string, ...chunks: Buffer[]): string {
  const print = new Fingerprint(method, url);
  for (const chunk of chunks) print.add(chunk);
  return print.digest();
}

describe('Fingerprint', () => {
  it('differs in method, path, query and every byte of the body', () => {
    const body = Buffer.from('{}');
    const prints = [
      fingerprint('POST', '/a', body),
      fingerprint('PUT', '/a', body),
      fingerprint('POST', '/b', body),
      fingerprint('POST', '/a?x', body),
      fingerprint('POST', '/a', Buffer.from('{ }')),
      fingerprint('POST', '/a', Buffer.alloc(0)),
    ];
    expect(new Set(prints).size).toBe(prints.length);
    expect(fingerprint('POST', '/a', Buffer.from('{'), Buffer.from('}'))).toBe(prints[0]);
  });
});
