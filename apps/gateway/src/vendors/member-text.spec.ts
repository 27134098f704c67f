import { describe, expect, it } from '@jest/globals';
import { MemberText } from './member-text.js';

/** The text of the member `model`, from chunks of this size. */
function found(json: string, chunkBytes: number): string | undefined {
  const member = new MemberText('model');
  const bytes = Buffer.from(json);
  for (let at = 0; at < bytes.length; at += chunkBytes) member.add(bytes.subarray(at, at + chunkBytes));
  return member.text;
}

describe.each([1, 3, 65_536])('the text of a member, in chunks of %i bytes', (chunkBytes) => {
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
  ])('%j has %j', (json, text) => {
    expect(found(json, chunkBytes)).toBe(text);
  });
});
