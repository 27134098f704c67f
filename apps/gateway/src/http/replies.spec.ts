import { describe, expect, it } from '@jest/globals';
import { noneMatchCovers } from './replies.js';

describe('noneMatchCovers', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['*', true],
    [' * ', true],
    ['"a"', true],
    ['W/"a"', true],
    ['"b", "a"', true],
    ['"b",W/"a"', true],
    ['"b"', false],
    ['a', false],
    ['"a', false],
    ['"A"', false],
  ])('reads %j', (header, covers) => expect(noneMatchCovers(header, '"a"')).toBe(covers));
});
