import { describe, expect, it } from '@jest/globals';
import { cut, shortened } from './stored-text.js';

describe('cut and shortened', () => {
  it('keep a text that fits', () => {
    expect(cut('🐈', 2)).toBe('🐈');
    expect(shortened('abc', 3)).toBe('abc');
  });

  it('drop a character that fits only by half', () => {
    expect(cut('ab🐈', 3)).toBe('ab');
    expect(shortened('ab🐈', 3)).toBe('ab…');
    expect(shortened('ab🐈c', 4)).toBe('ab🐈…');
  });
});
