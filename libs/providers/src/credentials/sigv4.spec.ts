import { describe, expect, it } from '@jest/globals';
import type { HttpCall } from '../contract.js';
import { sigv4 } from './sigv4.js';

const secret = 'AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const at = Date.UTC(2015, 7, 30, 12, 36);
const sign = sigv4({ service: 'service', region: 'us-east-1' });
const get: HttpCall = { method: 'GET', url: 'https://example.amazonaws.com/' };
const post: HttpCall = {
  method: 'POST',
  url: 'https://example.amazonaws.com/jobs/a%20b?z=1&a=x%2Fy&a=b',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"prompt":"a cat"}'),
};

describe('sigv4', () => {
  it('signs the example from the provider’s documents as shown there', () => {
    expect(sign(secret, at, get)).toEqual({
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
      'x-amz-date': '20150830T123600Z',
    });
  });

  it('signs media type, path, query and body as another implementation does', () => {
    expect(sign(secret, at, post)['authorization']).toMatch(
      /SignedHeaders=content-type;host;x-amz-date, Signature=364d9682c3ae2ecfd2fdc34fd3c9fc0944ea365dc5ffff66a61e86b1a09fc38f$/,
    );
  });

  it.each<[string, Partial<HttpCall>]>([
    ['body', { body: Buffer.from('{}') }],
    ['host', { url: 'https://other.amazonaws.com/jobs' }],
    ['path', { url: 'https://example.amazonaws.com/jobs/a' }],
    ['media type', { headers: { 'content-type': 'text/plain' } }],
    ['method', { method: 'PUT' }],
  ])('gives a different signature for a different %s', (_what, change) => {
    expect(sign(secret, at, { ...post, ...change })).not.toEqual(sign(secret, at, post));
  });

  it('keeps the key out of the header, and throws for a body that is read while it is sent', () => {
    expect(sign(secret, at, post)['authorization']).not.toContain('wJalr');
    expect(() => sign(secret, at, { ...post, pieces: [] })).toThrow('cannot be signed');
  });
});
