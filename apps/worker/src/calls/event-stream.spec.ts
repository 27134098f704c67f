import { describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { collectEvents } from './event-stream.js';

const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();

/** Collects a stream, and what its sink got. */
async function collected(
  body: AsyncIterable<Buffer>,
  {
    maxBytes = 1000,
    signal = new AbortController().signal,
    cancelled = undefined as AbortSignal | undefined,
    withholds = undefined as ((data: string) => boolean) | undefined,
  } = {},
) {
  const passed: Uint8Array[] = [];
  let isWhole: boolean | undefined;
  const reply = await collectEvents(body, {
    mediaType: 'text/event-stream',
    maxBytes,
    share: { grow: async () => {} },
    passOn: () => ({
      write: (bytes) => void passed.push(bytes),
      close: async (whole) => void (isWhole = whole),
    }),
    signal,
    cancelled,
    withholds,
  });
  return {
    body: text(reply.body),
    passedOn: text(reply.passedOn),
    cut: reply.cut,
    passed: Buffer.concat(passed).toString(),
    isWhole,
  };
}

const chunks = (...texts: string[]) =>
  Readable.from(texts.map((text) => Buffer.from(text))) as AsyncIterable<Buffer>;

async function* failing(error: Error): AsyncGenerator<Buffer> {
  yield Buffer.from('data: 1\n\n');
  throw error;
}

const withholds = (data: string): boolean => data === 'usage';

describe('an event stream', () => {
  it('is passed on unchanged and collected', async () => {
    expect(await collected(chunks('data: 1\n', '\ndata: 2\n\n'))).toEqual({
      body: 'data: 1\n\ndata: 2\n\n',
      passedOn: undefined,
      cut: undefined,
      passed: 'data: 1\n\ndata: 2\n\n',
      isWhole: true,
    });
  });

  it('is passed on without the events that are withheld; the reply has them', async () => {
    expect(
      await collected(chunks('data: 1\n\nda', 'ta: usage\n\ndata: 2\n\nrest'), { withholds }),
    ).toMatchObject({
      body: 'data: 1\n\ndata: usage\n\ndata: 2\n\nrest',
      passedOn: 'data: 1\n\ndata: 2\n\nrest',
      passed: 'data: 1\n\ndata: 2\n\nrest',
    });
    expect(await collected(chunks('data: 1\n\n'), { withholds })).toMatchObject({
      passedOn: undefined,
      passed: 'data: 1\n\n',
    });
  });

  it.each([
    ['reset', Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }), {}],
    ['timeout', Object.assign(new Error('Body Timeout Error'), { code: 'UND_ERR_BODY_TIMEOUT' }), {}],
    ['timeout', new Error('aborted'), { signal: AbortSignal.abort() }],
    ['cancelled', new Error('aborted'), { signal: AbortSignal.abort(), cancelled: AbortSignal.abort() }],
  ])('is cut by a %s, and keeps what arrived', async (cut, error, terms) => {
    expect(await collected(failing(error), terms)).toMatchObject({
      cut,
      body: 'data: 1\n\n',
      isWhole: false,
    });
  });

  it('is cut when it is longer than its limit', async () => {
    expect(await collected(chunks('data: 1\n\n', 'x'.repeat(1000)))).toMatchObject({
      cut: 'oversize',
      isWhole: false,
    });
  });
});
