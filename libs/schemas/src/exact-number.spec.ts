import { describe, expect, it } from '@jest/globals';
import { isExact, markInexact } from './exact-number.js';

describe('a number that is parsed and serialized again', () => {
  it.each([
    '0',
    '-0.0',
    '7',
    '-12.50',
    '0.1',
    '1e3',
    '1.5E-7',
    '1e21',
    '9007199254740991',
    '"9007199254740993 \\" 1e400"',
    '{"a":[100000,0.001],"b":"x"}',
  ])('%s stays', (text) => {
    expect(markInexact(text)).toBe(text);
  });

  it.each([
    '9007199254740993',
    '18446744073709551615',
    '1e400',
    '1e-400',
    '0.1234567890123456789',
    '4503599627370496.25',
    '{"a":[0.1000000000000000055]}',
  ])('%s would become another number', (text) => {
    expect(isExact(JSON.parse(markInexact(text)))).toBe(false);
  });
});
