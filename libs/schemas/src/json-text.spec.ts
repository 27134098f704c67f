import { describe, expect, it } from '@jest/globals';
import {
  array,
  assert,
  constant,
  constantFrom,
  dictionary,
  jsonValue,
  letrec,
  oneof,
  property,
  string,
  tuple,
} from 'fast-check';
import { type Json, valuesAt } from './json-pointer.js';
import {
  type JsonContainer,
  jsonExcess,
  JsonIndex,
  prunedJson,
  longStringsOf,
  membersOf,
  placesOf,
  replaceStrings,
  stringAt,
  textAt,
  withMembersFirst,
} from './json-text.js';

const bytes = (text: string) => Buffer.from(text);
/** The values at the places, parsed from the text. */
const valuesIn = (json: string, ...pointers: string[]) =>
  placesOf(bytes(json), pointers).map((place) => JSON.parse(textAt(bytes(json), place)) as Json);

const escaped = (segment: string) => segment.replaceAll('~', '~0').replaceAll('/', '~1');

const sorted = (values: Json[]) => values.map((value) => JSON.stringify(value)).sort();

/** Every path in a value, with some segments replaced by `*`. */
function pointersOf(value: Json, path = ''): string[] {
  const here = path === '' ? [] : [path, path.replace(/\/[^/]*$/, '/*')];
  if (typeof value !== 'object' || value === null) return here;
  return [
    ...here,
    ...Object.entries(value).flatMap(([key, each]) => pointersOf(each, `${path}/${escaped(key)}`)),
  ];
}

describe('placesOf', () => {
  it.each([
    ['a field', '{"a":"x","b":"y"}', '/a', ['x']],
    ['an element', '{"a":["x","y","z"]}', '/a/1', ['y']],
    ['every element', '{"a":[{"u":"x"},{"v":"n"},{"u":"y"}]}', '/a/*/u', ['x', 'y']],
    ['every field', '{"a":{"p":{"u":"x"},"q":{"u":"y"}}}', '/a/*/u', ['x', 'y']],
    ['no field with that name elsewhere', '{"b":{"a":"n"},"a":{"a":"x"}}', '/a/a', ['x']],
    [
      'values of every kind',
      '{"a":[1,null,true,{},["n"],"x",[]]}',
      '/a/*',
      [1, null, true, {}, ['n'], 'x', []],
    ],
    ['nothing in empty containers', '{"a":[],"b":{}}', '/*/*', []],
    ['a value and its content', '{"a":{"b":1}}', '/a', [{ b: 1 }]],
    ['a name with escapes', '{"\\u0061/~":"x"}', '/a~1~0', ['x']],
    ['a field beside braces inside strings', '{"n":"}{\\"a\\":\\"n\\"","a":"x\\\\"}', '/a', ['x\\']],
    ['nothing in an empty array', '[]', '/0', []],
    ['a field after a byte order mark', '\ufeff{"a":"x"}', '/a', ['x']],
  ])('finds %s', (_what, json, pointer, found) => {
    expect(valuesIn(json, pointer)).toEqual(found);
  });

  it('finds the same values as a parser, in any document', () => {
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
        // A parser puts names that look like numbers first, but the text keeps its order.
        expect(sorted(valuesIn(JSON.stringify(document, null, indent), pointer))).toEqual(
          sorted(valuesAt(JSON.parse(JSON.stringify(document)), pointer)),
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe('replaceStrings', () => {
  it('leaves every other byte unchanged', () => {
    const json = bytes(
      '{ "id" : 9007199254740993 , "é":"\\u00e9", "u":"https://a/1" ,"v":[ "https://a/2"] }\n',
    );
    const places = placesOf(json, ['/u', '/v/0']).map((place, index) => ({
      ...place,
      text: `"${index}`,
    }));
    expect(replaceStrings(json, places).toString()).toBe(
      '{ "id" : 9007199254740993 , "é":"\\u00e9", "u":"\\"0" ,"v":[ "\\"1"] }\n',
    );
  });
});

const membersIn = (text: string) =>
  membersOf(bytes(text)).map((member) => [member.name, textAt(bytes(text), member)]);

describe('longStringsOf', () => {
  it('finds strings by their length in bytes, at any depth, including names', () => {
    const json = bytes('{"long name":["four","a \\"long\\" one"],"b":[{"c":"éé"}],"d":123456789}');
    const texts = longStringsOf(json, 6).map((place) => stringAt(json, place));
    expect(texts).toEqual(['long name', 'a "long" one']);
  });
});

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
    expect(membersIn(text)).toEqual(members);
    expect(new Map(membersIn(text) as [string, string][]).size).toBe(
      Object.keys(JSON.parse(text) as object).length,
    );
  });

  it('reads an object inside another', () => {
    const text = '{"a":{"b":1}}';
    const [outer] = membersOf(bytes(text));
    expect(membersOf(bytes(text), outer?.start).map(({ name }) => name)).toEqual(['b']);
  });

  it('skips an image of 2 MB', () => {
    const text = `{"image":"${'A'.repeat(2_000_000)}","seed":7}`;
    expect(membersOf(bytes(text)).map(({ name }) => name)).toEqual(['image', 'seed']);
  });
});

describe('broken text', () => {
  it.each(['', '"', '"\\', '{"a', '{"a"', '{"a":', '[', '[1,', ']]]]', '\\', '{,,}', '{"a":{"a":['])(
    '%j has an end',
    (text) => {
      expect(() => placesOf(bytes(text), ['/a/*', '/*'])).not.toThrow(RangeError);
      expect(() => membersOf(bytes(text))).not.toThrow(RangeError);
    },
  );
});

describe('withMembersFirst', () => {
  it.each([
    ['{}', '{"model":"a\\"b","n":1}'],
    [' \n{ }\t', ' \n{"model":"a\\"b","n":1 }\t'],
    [
      '{"seed":1.0,"seed":18446744073709551615}',
      '{"model":"a\\"b","n":1,"seed":1.0,"seed":18446744073709551615}',
    ],
    ['{ "a" : [ ] }', '{"model":"a\\"b","n":1, "a" : [ ] }'],
  ])('inserts the members into %s', (text, expected) => {
    expect(Buffer.from(withMembersFirst(bytes(text), { model: 'a"b', n: 1 })).toString()).toBe(expected);
  });

  it('returns the same bytes if there is nothing to add', () => {
    const text = bytes('{"a":1}');
    expect(withMembersFirst(text, {})).toBe(text);
  });
});

const unlimited = { depth: Infinity, keys: Infinity, containers: Infinity };
const scan = (text: string, limits: Partial<Parameters<typeof jsonExcess>[1]>) =>
  jsonExcess(Buffer.from(text), { ...unlimited, ...limits });

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, member) => sum + keysOf(member), own);
}

function containersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + containersOf(member), 1);
}

const pruned = (value: unknown, most: number): unknown =>
  JSON.parse(prunedJson(Buffer.from(JSON.stringify(value)), most).toString());
const boxes = (count: number): unknown[] => Array.from({ length: count }, () => []);

describe('prunedJson', () => {
  it('replaces the smallest part that is too large, and nothing else', () => {
    const reply = {
      status: 'succeeded',
      choices: [{ message: { text: '[{' }, logprobs: boxes(5) }],
      usage: { n: 1 },
    };
    expect(pruned(reply, 5)).toEqual({
      ...reply,
      choices: [{ message: { text: '[{' }, logprobs: '(left out)' }],
    });
    expect(pruned(reply, 100)).toEqual(reply);
    expect(pruned([boxes(4), [boxes(2), boxes(2)], 'x'], 6)).toEqual([boxes(4), '(left out)', 'x']);
    expect(pruned([boxes(5), boxes(5), boxes(5)], 6)).toBe('(left out)');
  });

  it('keeps the rest of the text byte for byte', () => {
    const text = '{ "a":1e400,"a" : "\\u00e9", "b":[ [],[],[] ] }';
    expect(prunedJson(Buffer.from(text), 3).toString()).toBe(text.replace('[ [],[],[] ]', '"(left out)"'));
  });

  it.each(['', '"', ']]', '[[', '{"a":[[]'])('ends on the broken text %j', (text) => {
    expect(prunedJson(Buffer.from(text), 10).toString()).toBe(text);
  });
});

describe('jsonExcess', () => {
  it('counts what the parser will find, whatever the strings contain', () => {
    const text = oneof(string(), constantFrom('{', '"', '\\', '\\"', ':[{', '\\\\"', 'é'));
    const { tree } = letrec<{ tree: unknown }>((tie) => ({
      tree: oneof(
        { maxDepth: 6 },
        text,
        array(tie('tree'), { maxLength: 3 }),
        dictionary(text, tie('tree'), { maxKeys: 3 }),
      ),
    }));
    assert(
      property(tree, constantFrom(undefined, 1), (value, indent) => {
        const json = JSON.stringify(value, undefined, indent);
        const [depth, keys, containers] = [depthOf(value), keysOf(value), containersOf(value)];
        expect(scan(json, { depth, keys, containers })).toBeNull();
        expect(scan(json, { depth: depth - 1 })).toBe(depth === 0 ? null : 'too_deep');
        expect(scan(json, { keys: keys - 1 })).toBe(keys === 0 ? null : 'too_many_keys');
        expect(scan(json, { containers: containers - 1 })).toBe(
          containers === 0 ? null : 'too_many_containers',
        );
      }),
    );
  });

  it('counts every duplicate key', () => {
    expect(scan('{"a":1,"a":2}', { depth: 1, keys: 1 })).toBe('too_many_keys');
  });

  it.each(['', '"', '"\\', '{"a', ']]]]', '\\'])('ends on the broken text %j', (text) => {
    expect(scan(text, { depth: 1, keys: 1 })).toBeNull();
  });
});

function indexOf(text: string): JsonIndex {
  const index = new JsonIndex(bytes(text));
  jsonExcess(index.json, unlimited, index);
  return index;
}

/** The paths and values of the members. */
const indexed = (text: string) => {
  const index = indexOf(text);
  const pathOf = ({ around, at }: JsonContainer): (string | number)[] =>
    around === undefined || at === undefined
      ? []
      : [...pathOf(around), typeof at === 'number' ? at : index.nameOf(at)];
  return index.members.map((member) => [
    [...pathOf(member.within), index.nameOf(member)].join('/'),
    index.parse(member),
  ]);
};

describe('JsonIndex', () => {
  it('has each member in order, including duplicates, with its place and its value', () => {
    const text = '\uFEFF{ "a" : [{"b":1},2,[3,{ "x":"}" }]] ,"a":{"c\\u0064":null},"e":{"f":1, "g":[]}\n}';
    expect(indexed(text)).toEqual([
      ['a', [{ b: 1 }, 2, [3, { x: '}' }]]],
      ['a/0/b', 1],
      ['a/2/1/x', '}'],
      ['a', { cd: null }],
      ['a/cd', null],
      ['e', { f: 1, g: [] }],
      ['e/f', 1],
      ['e/g', []],
    ]);
  });

  it('counts all values, including elements and members', () => {
    expect(indexOf('{ "a" : [{"b":1},2,[3,{}]] ,"a":"x", "e":null}').values).toBe(10);
    expect(['[]', '{}', '"a"', ' 1 ', '[[],[]]'].map((text) => indexOf(text).values)).toEqual([
      1, 1, 1, 1, 3,
    ]);
  });

  it('has the same members as a parser, in any document', () => {
    const membersIn = (value: unknown, path: (string | number)[] = []): unknown[] => {
      if (typeof value !== 'object' || value === null) return [];
      if (Array.isArray(value)) return value.flatMap((each, nth) => membersIn(each, [...path, nth]));
      return Object.entries(value).flatMap(([name, each]) => [
        [[...path, name].join('/'), each],
        ...membersIn(each, [...path, name]),
      ]);
    };
    assert(
      property(jsonValue({ maxDepth: 4 }), constantFrom(undefined, 1, '\t'), (document, indent) => {
        const text = JSON.stringify(document, null, indent);
        expect(sorted(indexed(text) as Json[])).toEqual(sorted(membersIn(JSON.parse(text)) as Json[]));
      }),
      { numRuns: 300 },
    );
  });

  it.each(['', ':', '[1:2,3]', '{"a":1:2}', ']]}}:{,', '{"a"', '{:}', '}{"a":[}', '"'])(
    'ends on the broken text %j',
    (text) => expect(() => indexOf(text)).not.toThrow(),
  );
});
