import { describe, expect, it } from '@jest/globals';
import { contains } from './platform-filter.js';

describe('contains', () => {
  it.each([
    ['>=1.0.0,<2.0.0', ['1.0.0', '1.9.9', '1', 'v1.5', '1.5.0-beta'], ['0.9', '2.0.0']],
    ['>= 0.3', ['0.3.0', '0.3.40', '10'], ['0.2.9']],
    ['~=1.4', ['1.4.0', '1.9'], ['1.3', '2.0.0']],
    ['~=1.4.2', ['1.4.2', '1.4.9'], ['1.4.1', '1.5.0']],
    ['==1.2', ['1.2.0', '1.2.7'], ['1.3']],
    ['>=1,!=1.5', ['1.4', '1.6'], ['1.5.0', '0.9']],
    ['^1.2 || ^3', ['1.3', '3.0.1'], ['2.0.0', '1.1']],
    ['1.x', ['1.0', '1.99.1'], ['2']],
    ['*', ['0.0.1', '99.0'], ['nightly']],
    ['>1.2.3.4', ['1.0'], []],
    ['', ['1.0', 'nightly'], []],
    ['whatever works', ['1.0', 'nightly'], []],
  ])('interprets the range %s', (range, inside, outside) => {
    expect(inside.filter((version) => !contains(range, version))).toEqual([]);
    expect(outside.filter((version) => contains(range, version))).toEqual([]);
  });

  it.each(['1', ' ', '>=', '1.', '||'])('handles a long text of %j', (part) => {
    const text = part.repeat(16_000 / part.length);
    expect(typeof contains(text, '1.0.0')).toBe('boolean');
    expect(typeof contains('>=1.0', text)).toBe('boolean');
  });
});
