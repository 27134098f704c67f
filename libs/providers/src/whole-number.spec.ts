import { describe, expect, it } from '@jest/globals';

import { digitsOf } from './whole-number.js';

const read = (text: string): string => digitsOf((JSON.parse(text) as { id: number }).id, 'id', text);

describe('digitsOf', () => {
  it.each([
    ['{"id":42}', '42'],
    ['{"id":9223372036854775807}', '9223372036854775807'],
    [
      '{"note":"\\"id\\":1","cost":9223372036854775806,\n "id" : 9223372036854775805 }',
      '9223372036854775805',
    ],
    ['{"id":-9223372036854775807}', '-9223372036854775807'],
    ['{"id":1.5}', '1.5'],
  ])('%s is %s', (text, digits) => {
    expect(read(text)).toBe(digits);
  });
});
