import { describe, expect, it } from '@jest/globals';
import { pageCursor, pageLimit } from './page-request.js';

describe('pageLimit', () => {
  it.each([
    [undefined, 20],
    ['1', 1],
    ['007', 7],
    ['100', 100],
    ['101', 100],
    ['9'.repeat(400), 100],
    ['0', 20],
    ['-1', 20],
  ])('serves %j as %i', (limit, served) => expect(pageLimit({ limit })).toBe(served));

  it.each(['', ' 1', '1.0', '1e2', 'x', '+5', '٣', ['1', '2']])('refuses %j', (limit) => {
    expect(() => pageLimit({ limit })).toThrow('limit must be an integer');
  });
});

describe('pageCursor', () => {
  it('passes one on and refuses two', () => {
    expect(pageCursor({})).toBeUndefined();
    expect(pageCursor({ cursor: 'a' })).toBe('a');
    expect(() => pageCursor({ cursor: ['a', 'b'] })).toThrow('once');
  });
});
