import { describe, expect, it } from '@jest/globals';

import { valueAt, valuesAt } from './json-pointer.js';

const document = {
  a: [{ b: 1 }, { b: null }, 'text'],
  'x/y': { '~': true },
  o: { p: { u: 'q' }, r: { u: 's' } },
};

describe('pointer', () => {
  it.each([
    ['/a/0/b', [1]],
    ['/a/1/b', [null]],
    ['/a/*/b', [1, null]],
    ['/o/*/u', ['q', 's']],
    ['/x~1y/~0', [true]],
    ['/a/3', []],
    ['/a/01', []],
    ['/a/-1', []],
    ['/a/length', []],
    ['/constructor/name', []],
    ['/a/2/length', []],
    ['/missing/*/deep', []],
  ] as const)('%s reaches %j', (pointer, reached) => {
    expect(valuesAt(document, pointer)).toEqual(reached);
    expect(valueAt(document, pointer)).toBe(reached[0]);
  });
});
