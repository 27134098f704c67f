import { describe, expect, it, jest } from '@jest/globals';
import { MemberPlaces, ReplacedMembers } from './object-members.js';

function chunksOf(json: string, chunkBytes: number): Buffer[] {
  const bytes = Buffer.from(json);
  const count = Math.ceil(bytes.length / chunkBytes);
  return Array.from({ length: count }, (_, nth) => bytes.subarray(nth * chunkBytes, (nth + 1) * chunkBytes));
}

function found(json: string, chunkBytes: number): MemberPlaces {
  const members = new MemberPlaces(['model', 'input']);
  for (const chunk of chunksOf(json, chunkBytes)) members.add(chunk);
  return members;
}

describe.each([1, 3, 65_536])('the members of an object, in chunks of %i bytes', (chunkBytes) => {
  it.each([
    ['{"model":"a"}', 'a'],
    [' { "input" : [ "model", { "model": "no" } ] , "model" : "a" } ', 'a'],
    ['{"a":"\\"model\\":\\"no\\"","b":"\\\\","model":"a"}', 'a'],
    ['{"mod\\u0065l":"\\u00fc\\n€"}', 'ü\n€'],
    ['{"model":"a","model":"b"}', 'a'],
    ['{"model":""}', ''],
    ['{"model":{"model":"no"},"x":"model","y":1}', undefined],
    ['{"model":5,"x":"model"}', undefined],
    ['{"model":null}', undefined],
    ['["model","a"]', undefined],
    ['[{"model":"a"}]', undefined],
    ['"model"', undefined],
    ['{"model":"a', undefined],
    ['{"model":"\\x"}', undefined],
    [`{"model":"${'a'.repeat(1025)}"}`, undefined],
    ['', undefined],
  ])('of %j, model has the text %j', (json, text) => {
    expect(found(json, chunkBytes).textOf('model', Buffer.from(json))).toBe(text);
  });

  it.each([
    ['{"input":{"a":[1,{"input":2}],"b":"}"},"x":1}', '{"a":[1,{"input":2}],"b":"}"}'],
    ['{"x":1, "input" : 1.50 }', ' 1.50 '],
    ['{"input":{}', undefined],
    ['{"x":{"input":1}}', undefined],
  ])('of %j, input is at %j', (json, text) => {
    const place = found(json, chunkBytes).placeOf('input');
    expect(place && Buffer.from(json).subarray(place.start, place.end).toString()).toBe(text);
  });

  it.each([
    ['{}', '{"id":"new","urls":{"get":1}}'],
    ['{"id":"old"}', '{"id":"new","urls":{"get":1}}'],
    [
      ' {"a":[{"id":"kept"}], "urls" : {"id":"x"} , "b":1.50}\n',
      ' {"a":[{"id":"kept"}], "urls" :{"get":1}, "b":1.50,"id":"new"}\n',
    ],
    ['{"id":"1","id":"2","s":"€\\"}"}', '{"id":"new","id":"new","s":"€\\"}","urls":{"get":1}}'],
  ])('%j with other members is %j', (json, text) => {
    const replaced = new ReplacedMembers({ id: 'new', urls: { get: 1 } });
    const passed = chunksOf(json, chunkBytes).map((chunk) => replaced.add(chunk));
    expect(Buffer.concat(passed).toString()).toBe(text);
  });
});

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`;

describe('hostile names', () => {
  const limits = { keys: 10_000, depth: 64 };
  const scanned = (json: string) => {
    const members = new MemberPlaces(['model'], limits);
    const chunks = chunksOf(json, 1000);
    const nth = chunks.findIndex((chunk) => members.add(chunk) !== undefined);
    return { excess: members.add(Buffer.alloc(0)), read: nth === -1 ? json.length : nth * 1000, members };
  };

  it.each([
    ['broken escapes', '"\\x"'],
    ['no name at all', '""'],
    ['long names', `"${'n'.repeat(500)}"`],
    ['names of escapes', '"\\u006d\\u006f"'],
  ])('of a MiB of %s are not parsed, and end the scan at the limit', (_what, name) => {
    const parse = jest.spyOn(JSON, 'parse');
    const { excess, read, members } = scanned(`{${`${name}:0,`.repeat(200_000)}"model":"a"}`);
    expect(members.placeOf('model')).toBeUndefined();
    expect(excess).toBe('too_many_keys');
    expect(read).toBeLessThanOrEqual(10_001 * (name.length + 3));
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
  });

  it('within the limits are passed over', () => {
    const json = `{${'"\\x":0,"\\ud800":1,'.repeat(4000)}"m\\u006Fdel":"a"}`;
    const { excess, members } = scanned(json);
    expect(excess).toBeUndefined();
    expect(members.textOf('model', Buffer.from(json))).toBe('a');
  });

  it('are counted on every level, and levels too', () => {
    expect(scanned(deep(64)).excess).toBeUndefined();
    expect(scanned(deep(65)).excess).toBe('too_deep');
    expect(scanned(`{"a":[${'{"b":0},'.repeat(10_000)}0]}`).excess).toBe('too_many_keys');
    // Texts have neither.
    expect(scanned(`{"a":"${'{:['.repeat(20_000)}"}`).excess).toBeUndefined();
  });
});
