import { describe, expect, it } from '@jest/globals';
import { RouterError } from '#errors';
import { parseInput } from './parse-input.js';

describe('parseInput', () => {
  it('parses an object without touching any prototype', () => {
    const { body: input } = parseInput(Buffer.from('{"__proto__":{"polluted":true},"a":1}'));
    expect(Object.keys(input)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(input)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each([
    ['[1]', 'must be a JSON object'],
    ['1', 'must be a JSON object'],
    ['{', 'not valid JSON'],
    ['', 'not valid JSON'],
    ['\uFEFF{}', 'not valid JSON'],
    ['{"a":'.repeat(65), 'deeper than 64'],
  ])('rejects %j', (text, reason) => {
    const parse = () => parseInput(Buffer.from(text));
    expect(parse).toThrow(RouterError);
    expect(parse).toThrow(reason);
  });

  it('rejects bytes that are not UTF-8, including half a surrogate pair', () => {
    for (const bytes of [[0xff], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
      const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);
      expect(() => parseInput(body)).toThrow('not valid UTF-8');
    }
  });

  it('does not quote the body in its error', () => {
    expect(() => parseInput(Buffer.from('{"password": hunter2}'))).toThrow(
      expect.objectContaining({ publicDetail: expect.not.stringContaining('hunter2') }),
    );
  });
});
