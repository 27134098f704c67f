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
  ])('recognises %j as an SVG', async (text) => expect(await typeOf(text)).toBe('image/svg+xml'));

  it.each(['', '<svgs>', '<html><svg>', '<!-- <svg>', '<!DOCTYPE html><svg>'])(
    'does not recognise %j as an SVG',
    async (text) => expect(await typeOf(text)).toBe('application/octet-stream'),
  );

  // A backtracking search would try every way to divide them and never finish.
  it.each([
    '<!---->'.repeat(60),
    `${'<!---->'.repeat(60)}<svgs>`,
    '<!-- '.repeat(13_000),
    ' '.repeat(64_000),
  ])('reads comments once', async (text) => expect(await typeOf(text)).toBe('application/octet-stream'));

  it('reads only the head', async () => {
    expect(await typeOf(`${' '.repeat(headBytes)}<svg>`)).toBe('application/octet-stream');
  });

  it('trusts the announced type only if files of that type have no signature', async () => {
    expect(await typeOf('a,b', 'Text/CSV ; charset=utf-8')).toBe('text/csv');
    expect(await typeOf('a,b', `text/csv${' '.repeat(15_000)}; a`)).toBe('text/csv');
    expect(await typeOf('a\0b', 'text/csv')).toBe('application/octet-stream');
    expect(await typeOf('a,b', 'image/png')).toBe('application/octet-stream');
  });
});
