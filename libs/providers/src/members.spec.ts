import { describe, expect, it } from '@jest/globals';

import { membersOf } from './members.js';

const read = (text: string) => membersOf(text).map(({ name, from, to }) => [name, text.slice(from, to)]);

describe('membersOf', () => {
  it.each([
    ['{}', []],
    [' {\r\n} ', []],
    ['{"a":1}', [['a', '1']]],
    [
      '{ "seed" : 18446744073709551615 ,\t"strength":1.0}',
      [
        ['seed', '18446744073709551615'],
        ['strength', '1.0'],
      ],
    ],
    [
      '{"a":"x","a":null}',
      [
        ['a', '"x"'],
        ['a', 'null'],
      ],
    ],
    [
      String.raw`{"a\"b":"c\\","d":"\\\""}`,
      [
        ['a"b', String.raw`"c\\"`],
        ['d', String.raw`"\\\""`],
      ],
    ],
    [
      '{"a":{"b":[1,{"c":"}]"}]},"d":[ ]}',
      [
        ['a', '{"b":[1,{"c":"}]"}]}'],
        ['d', '[ ]'],
      ],
    ],
    [
      '{"a":[[1],[2]] , "b":-1e2\n}',
      [
        ['a', '[[1],[2]]'],
        ['b', '-1e2'],
      ],
    ],
  ])('reads %s', (text, members) => {
    expect(read(text)).toEqual(members);
    expect(new Map(read(text) as [string, string][]).size).toBe(
      Object.keys(JSON.parse(text) as object).length,
    );
  });

  it('reads an object inside another', () => {
    const text = '{"a":{"b":1}}';
    const [outer] = membersOf(text);
    expect(membersOf(text, outer?.from).map(({ name }) => name)).toEqual(['b']);
  });

  it('passes over an image of 2 MB', () => {
    const text = `{"image":"${'A'.repeat(2_000_000)}","seed":7}`;
    expect(membersOf(text).map(({ name }) => name)).toEqual(['image', 'seed']);
  });
});
