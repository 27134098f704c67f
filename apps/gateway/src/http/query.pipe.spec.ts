import { describe, expect, it } from '@jest/globals';
import { pageQuery, QueryPipe } from './query.pipe.js';

const parse = (query: object) => new QueryPipe(pageQuery).transform(query);

describe('limit', () => {
  it.each([
    [undefined, 20],
    ['1', 1],
    ['007', 7],
    ['100', 100],
    ['101', 100],
    ['9'.repeat(400), 100],
    ['0', 20],
    ['-1', 20],
  ])('serves %j as %i', (limit, served) => expect(parse({ limit })).toEqual({ limit: served }));

  it.each(['', ' 1', '1.0', '1e2', 'x', '+5', '٣', ['1', '2']])('rejects %j', (limit) => {
    expect(() => parse({ limit })).toThrow('limit must be an integer.');
  });
});

describe('cursor', () => {
  it('accepts one and rejects two', () => {
    expect(parse({ cursor: 'a', unknown: 'b' })).toEqual({ cursor: 'a', limit: 20 });
    expect(() => parse({ cursor: ['a', 'b'] })).toThrow('cursor must not be repeated.');
  });
});
