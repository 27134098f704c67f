import { describe, expect, it, jest } from '@jest/globals';
import { partsOf } from './message-parts.js';

const parts = (message: string) => {
  const { envelope, input } = partsOf(Buffer.from(message));
  return [envelope.toString(), input?.toString()];
};

/** Almost 1 MiB. */
const filled = (piece: string) => piece.repeat(Math.floor((1024 * 1024 - 200) / piece.length));

describe('partsOf', () => {
  it.each([
    ['{"id":1}', '{"id":1}', undefined],
    [
      '{"params":{"arguments":{"input": { "seed":9007199254740993 },"model":"a/b"}},"id":1}',
      '{"params":{"arguments":{"input": {},"model":"a/b"}},"id":1}',
      '{ "seed":9007199254740993 }',
    ],
    ['{"params":{"arguments":{"input":[1]}}}', '{"params":{"arguments":{"input":[]}}}', '[1]'],
    ['{"params":{"arguments":{"input":"a"}}}', '{"params":{"arguments":{"input":""}}}', '"a"'],
    ['{"params":{"arguments":{"data":"YQ=="}}}', '{"params":{"arguments":{"data":""}}}', '"YQ=="'],
    ['{"params":{"arguments":{"data":null}}}', '{"params":{"arguments":{"data":null}}}', 'null'],
    ['{"params":{"input":{"a":1}}}', '{"params":{"input":{"a":1}}}', undefined],
  ])('%s', (message, envelope, input) => expect(parts(message)).toEqual([envelope, input]));

  it.each([String.raw`{"\x":1}`, String.raw`{"params":{"\x":1}}`])('rejects %s', (message) =>
    expect(() => parts(message)).toThrow('not valid JSON'),
  );

  it.each([
    '{"params":{"arguments":{"input":{"a":1},"input":{"b":2}}}}',
    '{"params":{"arguments":{"input":{"a":1}}},"params":{"arguments":{"input":1}}}',
    '{"params":{"arguments":{"input":{"a":1},"data":"YQ=="}}}',
  ])('rejects the two inputs of %s', (message) =>
    expect(() => parts(message)).toThrow('The message has more than one input.'),
  );

  it.each([
    ['arguments', 400, `{"params":{"arguments":{${filled('"a":0,')}"b":1}}}`],
    ['elements', 400, `[${filled('{},')}1]`],
    ['members', 400, `{${filled('"a":0,')}"b":1}`],
    ['inputs', 400, `{"params":{"arguments":{${filled('"input":{},')}"b":1}}}`],
    ['parameters', 400, `{${filled('"params":{},')}"b":1}`],
    ['members before the input', 400, `{${filled('"a":0,')}"params":{"arguments":{"input":{}}}}`],
    ['long members', 413, `{${filled(`"${'a'.repeat(1_000)}":0,`)}"b":1}`],
    [
      'long arguments',
      413,
      `{"params":{"arguments":{"input":{},${filled(`"a":"${'a'.repeat(1_000)}",`)}"b":1}}}`,
    ],
  ])('reads at most 2,000 of many %s', (_what, status, message) => {
    const parse = jest.spyOn(JSON, 'parse');
    try {
      expect(() => parts(message)).toThrow(expect.objectContaining({ bucket: 'invalid_input', status }));
      expect(parse.mock.calls.length).toBeLessThanOrEqual(status === 413 ? 70 : 2_000);
    } finally {
      parse.mockRestore();
    }
  });

  it('accepts 2,000 small members beside a large input', () => {
    const members = Array.from({ length: 1_900 }, (_, index) => `"k${index}":1`).join();
    const input = `[${filled('{},').slice(0, 900_000)}{}]`;
    expect(parts(`{"params":{"arguments":{"input":${input},${members}}}}`)[1]?.length).toBe(input.length);
  });

  it('leaves truncated messages to the parser', () => {
    for (const message of ['', '{', '{"params":{"arguments":{"input":{'])
      expect(parts(message)[0]).not.toBe('{}');
  });
});
