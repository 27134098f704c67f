import { describe, expect, it } from '@jest/globals';
import { PNG } from 'pngjs';
import { drawable, glyphAdvance } from './font.js';
import { fit, wrap } from './layout.js';
import { drawPicture } from './picture.js';

const subject = { text: 'a red fox', caption: 'bfl/flux-2-pro', variant: 0 };

function whiteIn(bytes: Buffer): number {
  const { data } = PNG.sync.read(bytes);
  let count = 0;
  for (let at = 0; at < data.length; at += 4)
    if (data[at] === 255 && data[at + 1] === 255 && data[at + 2] === 255) count += 1;
  return count;
}

describe('drawPicture', () => {
  it('is a PNG of the stated size that shows the text', () => {
    const bytes = drawPicture(subject);
    const { width, height } = PNG.sync.read(bytes);
    expect([width, height]).toEqual([512, 320]);
    // Seven letters at five pixels a dot: far more white than an empty picture has.
    expect(whiteIn(bytes)).toBeGreaterThan(whiteIn(drawPicture({ ...subject, text: '' })) + 1000);
  });

  it('is the same for the same subject and different for another one', () => {
    expect(drawPicture(subject)).toEqual(drawPicture({ ...subject }));
    expect(drawPicture({ ...subject, variant: 1 })).not.toEqual(drawPicture(subject));
    expect(drawPicture({ ...subject, text: 'a red box' })).not.toEqual(drawPicture(subject));
  });

  it('draws any text at all', () => {
    for (const text of ['', 'x'.repeat(5000), '日本 \u0000 🦊 Straße', 'word '.repeat(2000)])
      expect(PNG.sync.read(drawPicture({ ...subject, text })).width).toBe(512);
  });
});

describe('layout', () => {
  it('breaks between words, and inside a word that is longer than a line', () => {
    expect(wrap('a red fox runs', 5)).toEqual(['a red', 'fox', 'runs']);
    expect(wrap('abcdefgh ij', 4)).toEqual(['abcd', 'efgh', 'ij']);
  });

  it('takes the largest scale that fits and cuts at the smallest', () => {
    const box = { width: 120, height: 66 };
    expect(fit('hi', box, glyphAdvance, [3, 1])).toEqual({ scale: 3, lines: ['hi'] });
    const cut = fit('word '.repeat(100), box, glyphAdvance, [3, 1]);
    expect(cut.scale).toBe(1);
    expect(cut.lines).toHaveLength(6);
    expect(cut.lines.at(-1)).toMatch(/\.\.\.$/);
  });

  it('keeps what the font has and marks what it lacks', () => {
    expect(drawable('Köln – “Straße” 日')).toBe('Koln - "Strasse" □');
  });
});
