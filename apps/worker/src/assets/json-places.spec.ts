import { describe, expect, it } from '@jest/globals';
import { assert, constant, constantFrom, jsonValue, property, tuple } from 'fast-check';
import { type Json, valuesAt } from '#providers';
import { findAssets, withCopies } from './found-assets.js';
import { replaceStrings, stringPlaces, textAt } from './json-places.js';

const bytes = (text: string) => Buffer.from(text);
const texts = (json: string, ...pointers: string[]) =>
  stringPlaces(bytes(json), pointers).map((place) => textAt(bytes(json), place));

const escaped = (segment: string) => segment.replaceAll('~', '~0').replaceAll('/', '~1');

/** Every path of a value, with some of its segments turned into `*`. */
function pointersOf(value: Json, path = ''): string[] {
  const here = path === '' ? [] : [path, path.replace(/\/[^/]*$/, '/*')];
  if (typeof value !== 'object' || value === null) return here;
  return [
    ...here,
    ...Object.entries(value).flatMap(([key, each]) => pointersOf(each, `${path}/${escaped(key)}`)),
  ];
}

describe('stringPlaces', () => {
  it.each([
    ['a field', '{"a":"x","b":"y"}', '/a', ['x']],
    ['an element', '{"a":["x","y","z"]}', '/a/1', ['y']],
    ['every element', '{"a":[{"u":"x"},{"v":"n"},{"u":"y"}]}', '/a/*/u', ['x', 'y']],
    ['every field', '{"a":{"p":{"u":"x"},"q":{"u":"y"}}}', '/a/*/u', ['x', 'y']],
    ['no field of that name elsewhere', '{"b":{"a":"n"},"a":{"a":"x"}}', '/a/a', ['x']],
    ['no value that is no string', '{"a":[1,null,true,{},["n"],"x"]}', '/a/*', ['x']],
    ['a name with escapes', '{"\\u0061/~":"x"}', '/a~1~0', ['x']],
    ['what stands in braces inside strings', '{"n":"}{\\"a\\":\\"n\\"","a":"x\\\\"}', '/a', ['x\\']],
    ['nothing where nothing is', '[]', '/0', []],
  ])('finds %s', (_what, json, pointer, found) => {
    expect(texts(json, pointer)).toEqual(found);
  });

  it('finds what a parser finds, in any document', () => {
    const documents = jsonValue({ maxDepth: 4 }).chain((document) => {
      const pointers = pointersOf(document as Json);
      return tuple(
        constant(document as Json),
        pointers.length === 0 ? constant('/none') : constantFrom(...pointers),
        constantFrom(undefined, 1, '\t'),
      );
    });
    assert(
      property(documents, ([document, pointer, indent]) => {
        const parsed = valuesAt(document, pointer as `/${string}`).filter(
          (value) => typeof value === 'string',
        );
        // A parser puts names that look like numbers first; the text has its own order.
        expect(texts(JSON.stringify(document, null, indent), pointer).sort()).toEqual(parsed.sort());
      }),
      { numRuns: 500 },
    );
  });
});

describe('replaceStrings', () => {
  it('leaves every other byte as it is', () => {
    const json = bytes(
      '{ "id" : 9007199254740993 , "é":"\\u00e9", "u":"https://a/1" ,"v":[ "https://a/2"] }\n',
    );
    const places = stringPlaces(json, ['/u', '/v/0']).map((place, index) => ({
      ...place,
      text: `"${index}`,
    }));
    expect(replaceStrings(json, places).toString()).toBe(
      '{ "id" : 9007199254740993 , "é":"\\u00e9", "u":"\\"0" ,"v":[ "\\"1"] }\n',
    );
  });
});

describe('assets in an output', () => {
  it('are web addresses, nothing else', () => {
    const urls = [
      'https://a/1.png',
      'data:image/png;base64,AAAA',
      'gs://bucket/2',
      'HTTP://a/3',
      'x',
      'https://',
    ];
    const output = bytes(JSON.stringify({ urls }));
    expect(findAssets(output, ['/urls/*']).map(({ url }) => url)).toEqual(['https://a/1.png', 'HTTP://a/3']);
  });

  it('keep their own URL where there is no copy', () => {
    const output = bytes('{"urls":["https://a/1","https://a/2","https://a/1"]}');
    const copies = new Map([['https://a/1', { url: 'https://ours/1?a=b&c=d' }]]);
    expect(withCopies(output, findAssets(output, ['/urls/*']), copies).toString()).toBe(
      '{"urls":["https://ours/1?a=b&c=d","https://a/2","https://ours/1?a=b&c=d"]}',
    );
  });
});
