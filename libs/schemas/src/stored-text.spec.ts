import { describe, expect, it } from '@jest/globals';
import { cut, shortened } from './stored-text.js';

describe('a text that is cut', () => {
  it('keeps what fits', () => {
    expect(cut('🐈', 2)).toBe('🐈');
    expect(shortened('abc', 3)).toBe('abc');
  });

  it('loses a character that fits only half', () => {
    expect(cut('ab🐈', 3)).toBe('ab');
    expect(shortened('ab🐈', 3)).toBe('ab…');
    expect(shortened('ab🐈c', 4)).toBe('ab🐈…');
  });
});
