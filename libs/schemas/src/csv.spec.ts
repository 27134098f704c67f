import { describe, expect, it } from '@jest/globals';
import { csvCell, csvLine } from './csv.js';

describe('csvCell', () => {
  it.each([
    ['plain', 'plain'],
    ['two\nlines', '"two\nlines"'],
    ['a,b', '"a,b"'],
    ['say "x"', '"say ""x"""'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@sum(a,b)', `"'@sum(a,b)"`],
    ['\t=1', "'\t=1"],
    ['\r=1', `"'\r=1"`],
    ['a=1', 'a=1'],
    [-1, '-1'],
    [null, ''],
    [0, '0'],
    [true, 'true'],
  ])('writes %j as %j', (value, text) => {
    expect(csvCell(value)).toBe(text);
  });
});

describe('csvLine', () => {
  it('separates cells with commas and ends with CRLF', () => {
    expect(csvLine(['a', 1, null, 'b,c'])).toBe('a,1,,"b,c"\r\n');
  });
});
