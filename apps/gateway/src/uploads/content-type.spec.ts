import { describe, expect, it } from '@jest/globals';
import { contentTypeOf, headBytes } from './content-type.js';

const typeOf = async (text: string, announced?: string) =>
  (await contentTypeOf(Buffer.from(text), announced)).mediaType;

describe('contentTypeOf', () => {
  it.each([
    '<svg>',
    '<svg xmlns="http://www.w3.org/2000/svg"/>',
    '\uFEFF <?xml version="1.0"?>\n<!-- drawn -->\n<!-- by hand --><!DOCTYPE svg PUBLIC "a">\n<svg\n>',
    `${'<!---->'.repeat(500)}<svg>`,
  ])('takes %j for an SVG', async (text) => expect(await typeOf(text)).toBe('image/svg+xml'));

  it.each(['', '<svgs>', '<html><svg>', '<!-- <svg>', '<!DOCTYPE html><svg>'])(
    'takes %j for none',
    async (text) => expect(await typeOf(text)).toBe('application/octet-stream'),
  );

  // A backtracking search tries every way to divide them, which never ends.
  it.each([
    '<!---->'.repeat(60),
    `${'<!---->'.repeat(60)}<svgs>`,
    '<!-- '.repeat(13_000),
    ' '.repeat(64_000),
  ])('reads comments once', async (text) => expect(await typeOf(text)).toBe('application/octet-stream'));

  it('looks at the head only', async () => {
    expect(await typeOf(`${' '.repeat(headBytes)}<svg>`)).toBe('application/octet-stream');
  });

  it('believes a claim where no file of that type has a signature', async () => {
    expect(await typeOf('a,b', 'Text/CSV ; charset=utf-8')).toBe('text/csv');
    expect(await typeOf('a,b', `text/csv${' '.repeat(15_000)}; a`)).toBe('text/csv');
    expect(await typeOf('a\0b', 'text/csv')).toBe('application/octet-stream');
    expect(await typeOf('a,b', 'image/png')).toBe('application/octet-stream');
  });
});
