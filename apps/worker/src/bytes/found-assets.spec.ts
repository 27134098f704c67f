import { describe, expect, it } from '@jest/globals';
import { findAssets, withCopies } from './found-assets.js';

const bytes = (text: string) => Buffer.from(text);

describe('assets in an output', () => {
  it('are http and https URLs only', () => {
    const urls = [
      'https://a/1.png',
      'data:image/png;base64,AAAA',
      'gs://bucket/2',
      'HTTP://a/3',
      'x',
      'https://',
    ];
    const output = bytes(JSON.stringify({ urls, more: [1, {}, null] }));
    expect(findAssets(output, ['/urls/*', '/more/*']).map(({ url }) => url)).toEqual([
      'https://a/1.png',
      'HTTP://a/3',
    ]);
  });

  it('keep the provider’s URL if there is no copy', () => {
    const output = bytes('{"urls":["https://a/1","https://a/2","https://a/1"]}');
    const copies = new Map([['https://a/1', { url: 'https://ours/1?a=b&c=d' }]]);
    expect(withCopies(output, findAssets(output, ['/urls/*']), copies).toString()).toBe(
      '{"urls":["https://ours/1?a=b&c=d","https://a/2","https://ours/1?a=b&c=d"]}',
    );
  });
});
