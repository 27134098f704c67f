import { describe, expect, it } from '@jest/globals';
import { partsOf } from './message-parts.js';

const parts = (message: string) => {
  const { envelope, input } = partsOf(Buffer.from(message));
  return [envelope.toString(), input?.toString()];
};

describe('partsOf', () => {
  it.each([
    ['{"id":1}', '{"id":1}', undefined],
    [
      '{"params":{"arguments":{"input": { "seed":9007199254740993 },"model":"a/b"}},"id":1}',
      '{"params":{"arguments":{"input": {},"model":"a/b"}},"id":1}',
      '{ "seed":9007199254740993 }',
    ],
    ['{"params":{"arguments":{"input":[1]}}}', '{"params":{"arguments":{"input":[]}}}', '[1]'],
    ['{"params":{"arguments":{"input":"a"}}}', '{"params":{"arguments":{"input":"a"}}}', '"a"'],
    ['{"params":{"input":{"a":1}}}', '{"params":{"input":{"a":1}}}', undefined],
    // A parser takes the last of two.
    [
      '{"params":{"arguments":{"input":{"a":1},"input":{"b":2}}}}',
      '{"params":{"arguments":{"input":{},"input":{}}}}',
      '{"b":2}',
    ],
  ])('%s', (message, envelope, input) => expect(parts(message)).toEqual([envelope, input]));

  it.each([String.raw`{"\x":1}`, String.raw`{"params":{"\x":1}}`])('refuses %s', (message) =>
    expect(() => parts(message)).toThrow('not valid JSON'),
  );

  it('leaves what is cut short to the parser', () => {
    for (const message of ['', '{', '{"params":{"arguments":{"input":{'])
      expect(parts(message)[0]).not.toBe('{}');
  });
});
