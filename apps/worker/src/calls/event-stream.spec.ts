import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { ArrivingEvents } from '#providers';
import { PassThrough, Readable } from 'node:stream';
import { collectEvents } from './event-stream.js';

const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();

/** Events that say themselves what they are. */
function arriving(): ArrivingEvents {
  const folded: ArrivingEvents['folded'] = {
    document: {},
    hasUsage: false,
    isComplete: false,
    writtenBytes: 0,
    isPartial: false,
  };
  let isAnswered = false;
  let goesOn = false;
  return {
    folded,
    take(data) {
      folded.isPartial ||= data === 'large';
      folded.isComplete ||= data === 'end' || data === 'last';
      goesOn ||= data === 'last';
      if (data === 'error') folded.error = { status: 500, body: {} };
      folded.hasUsage ||= data === 'usage';
      isAnswered ||= data === 'answer';
    },
    get hasEnded() {
      return folded.isComplete && !goesOn;
    },
    get isMissingUsage() {
      return isAnswered && !folded.hasUsage;
    },
  };
}

interface Given {
  maxBytes?: number;
  signal?: AbortSignal;
  cancelled?: AbortSignal;
  closing?: AbortSignal;
  withholds?: (data: string) => boolean;
}

/** Collects a stream, and what its sink got. */
async function collected(body: Readable, given: Given = {}) {
  const passed: Uint8Array[] = [];
  let isWhole: boolean | undefined;
  let held = 0;
  const reply = await collectEvents(body, {
    mediaType: 'text/event-stream',
    maxBytes: 1000,
    share: { grow: async (bytes) => void (held += bytes), shrink: (bytes) => void (held -= bytes) },
    passOn: () => ({
      write: (bytes) => void passed.push(bytes),
      close: async (whole) => void (isWhole = whole),
    }),
    signal: new AbortController().signal,
    cancelled: undefined,
    closing: undefined,
    arriving,
    ...given,
  });
  return {
    body: text(reply.body),
    passedOn: text(reply.passedOn),
    cut: reply.cut,
    isLeft: reply.left !== undefined,
    seconds: reply.streamSeconds,
    passed: Buffer.concat(passed).toString(),
    isWhole,
    held,
  };
}

const chunks = (...texts: string[]) => Readable.from(texts.map((each) => Buffer.from(each)));

const failing = (error: Error) =>
  Readable.from(
    (async function* () {
      yield Buffer.from('data: 1\n\n');
      throw error;
    })(),
  );

const withholds = (data: string): boolean => data === 'usage';

describe('an event stream', () => {
  it('is passed on unchanged and collected', async () => {
    expect(await collected(chunks('data: 1\n', '\ndata: 2\n\nda', 'ta: last\n\n'))).toMatchObject({
      body: 'data: 1\n\ndata: 2\n\ndata: last\n\n',
      passedOn: undefined,
      cut: undefined,
      passed: 'data: 1\n\ndata: 2\n\ndata: last\n\n',
      isWhole: true,
    });
  });

  it('is passed on without an event that breaks off, and without its end it is not whole', async () => {
    for (const given of [{}, { withholds }])
      expect(await collected(chunks('data: 1\n\nda', 'ta: 2'), given)).toMatchObject({
        body: 'data: 1\n\ndata: 2',
        passed: 'data: 1\n\n',
        cut: undefined,
        isWhole: false,
      });
  });

  it.each(['last', 'error', 'end', 'large'])(
    'may close its connection right after the event “%s”',
    async (event) => {
      const whole = `data: 1\n\ndata: ${event}`;
      expect(await collected(chunks(whole))).toMatchObject({
        body: whole,
        passed: whole,
        isWhole: event !== 'large',
      });
    },
  );

  it('is whole if its connection breaks after an error of the provider', async () => {
    const body = new PassThrough();
    const collecting = collected(body);
    body.write('data: error\n\n');
    await new Promise(setImmediate);
    body.destroy(new Error('reset'));
    expect(await collecting).toMatchObject({ isWhole: true });
  });

  it('is passed on without the events that are withheld; the reply has them', async () => {
    expect(await collected(chunks('data: 1\n\nda', 'ta: usage\n\ndata: 2\n\n'), { withholds })).toMatchObject(
      {
        body: 'data: 1\n\ndata: usage\n\ndata: 2\n\n',
        passedOn: 'data: 1\n\ndata: 2\n\n',
        passed: 'data: 1\n\ndata: 2\n\n',
      },
    );
    expect(await collected(chunks('data: 1\n\n'), { withholds })).toMatchObject({
      passedOn: undefined,
      passed: 'data: 1\n\n',
    });
  });

  it.each([
    ['its connection', 'data: last\n\n', 'data: usage'],
    ['its last event', 'data: 1\n\ndata: end\n\n', 'data: usage'],
    ['its last event in pieces', 'data: 1\n\ndata: end\n\n', 'data: usage\n\n', ': more\n\n'],
  ])('withholds the usage that comes at the end of %s', async (_what, begun, ...rest) => {
    const whole = [begun, ...rest];
    for (const pieces of [whole, [whole.join('')]])
      expect(await collected(chunks(...pieces), { withholds })).toMatchObject({
        body: whole.join(''),
        passedOn: begun,
        passed: begun,
        cut: undefined,
        isWhole: true,
      });
  });

  it('is passed on up to its last event', async () => {
    for (const pieces of [
      ['data: 1\n\nda', 'ta: end\n', '\n: x\n\ny'],
      ['data: 1\n\ndata: end\n\n: x\n\n', 'y'],
    ])
      expect(await collected(chunks(...pieces))).toMatchObject({
        body: 'data: 1\n\ndata: end\n\n: x\n\ny',
        passedOn: 'data: 1\n\ndata: end\n\n',
        passed: 'data: 1\n\ndata: end\n\n',
        isWhole: true,
      });
  });

  it.each([
    ['reset', Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }), {}],
    ['timeout', Object.assign(new Error('Body Timeout Error'), { code: 'UND_ERR_BODY_TIMEOUT' }), {}],
    ['timeout', new Error('aborted'), { signal: AbortSignal.abort() }],
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

  it('is whole if its connection breaks after the last event', async () => {
    const body = new PassThrough();
    const collecting = collected(body);
    body.write('data: end\n\n');
    await new Promise(setImmediate);
    body.destroy(new Error('reset'));
    expect(await collecting).toMatchObject({ cut: undefined, isWhole: true });
  });
});

describe('an event stream whose connection stays open', () => {
  afterEach(() => void jest.useRealTimers());

  it('is over a second after its last event', async () => {
    const { body, collecting } = await begun('1', 'end');
    expect(body.destroyed).toBe(false);
    jest.advanceTimersByTime(1_000);
    expect(await collecting).toMatchObject({
      cut: undefined,
      isWhole: true,
      passed: 'data: 1\n\ndata: end\n\n',
    });
    expect(body.destroyed).toBe(true);
  });

  it('is closed at once if its caller leaves before the answer is complete', async () => {
    const { body, collecting, leave } = await begun('1');
    await leave();
    expect(body.destroyed).toBe(true);
    expect(await collecting).toMatchObject({
      cut: 'cancelled',
      isLeft: true,
      isWhole: false,
      held: 0,
      body: '',
    });
  });

  it('is closed at once if its caller leaves after the usage', async () => {
    const { body, collecting, leave } = await begun('answer', 'usage');
    await leave();
    expect(body.destroyed).toBe(true);
    expect(await collecting).toMatchObject({ cut: 'cancelled', isLeft: true });
  });

  it('brings the usage without its caller, and without its bytes', async () => {
    const { body, collecting, bring, leave } = await begun('1', 'answer');
    await leave();
    await bring('more');
    expect(body.destroyed).toBe(false);
    await bring('usage');
    expect(body.destroyed).toBe(true);
    expect(await collecting).toMatchObject({
      cut: 'cancelled',
      isLeft: true,
      held: 0,
      body: '',
      passed: 'data: 1\n\ndata: answer\n\n',
      isWhole: false,
    });
  });

  it('is closed after ten seconds without the usage', async () => {
    const { body, collecting, leave } = await begun('answer');
    await leave();
    jest.advanceTimersByTime(9_999);
    expect(body.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(await collecting).toMatchObject({ cut: 'cancelled', isLeft: true });
  });

  it('is closed without the usage if the worker is about to stop, before its caller leaves or after', async () => {
    for (const closesFirst of [false, true]) {
      const { body, collecting, leave, close } = await begun('1', 'answer');
      if (closesFirst) await close();
      expect(body.destroyed).toBe(false);
      await leave();
      expect(body.destroyed).toBe(closesFirst);
      await close();
      expect(body.destroyed).toBe(true);
      expect(await collecting).toMatchObject({ cut: 'cancelled', isLeft: true });
    }
  });

  it('is not closed for its caller, although the worker is about to stop', async () => {
    const { body, collecting, bring, close } = await begun('1', 'answer');
    await close();
    expect(body.destroyed).toBe(false);
    await bring('usage', 'end');
    jest.advanceTimersByTime(1_000);
    expect(await collecting).toMatchObject({ cut: undefined, isWhole: true });
  });

  it('counts the time in which the provider is known to have worked', async () => {
    const { collecting, bring, leave } = await begun('1');
    jest.advanceTimersByTime(2_000);
    await bring('answer');
    jest.advanceTimersByTime(1_000);
    await leave();
    jest.advanceTimersByTime(10_000);
    expect(await collecting).toMatchObject({ seconds: 3 });
    const late = await begun('answer');
    await late.leave();
    jest.advanceTimersByTime(4_000);
    await late.bring('usage');
    expect(await late.collecting).toMatchObject({ seconds: 4 });
  });

  it('is read from its bytes if an event was too large to read while it arrived', async () => {
    const { collecting, leave } = await begun('large', '1');
    await leave();
    expect(await collecting).toMatchObject({
      cut: 'cancelled',
      isLeft: false,
      body: 'data: large\n\ndata: 1\n\n',
    });
  });

  it('that ended is whole, even if its caller leaves', async () => {
    const { collecting, leave } = await begun('1', 'end');
    await leave();
    expect(await collecting).toMatchObject({
      cut: undefined,
      isWhole: true,
      body: 'data: 1\n\ndata: end\n\n',
    });
  });
});

/** A stream that has brought these events, and its caller. */
async function begun(...events: string[]) {
  const closing = new AbortController();
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  const body = new PassThrough();
  const caller = new AbortController();
  const collecting = collected(body, { cancelled: caller.signal, closing: closing.signal });
  const bring = async (...more: string[]) => {
    for (const event of more) body.write(`data: ${event}\n\n`);
    await new Promise(setImmediate);
  };
  await bring(...events);
  const leave = async () => {
    caller.abort();
    await new Promise(setImmediate);
  };
  const close = async () => {
    closing.abort();
    await new Promise(setImmediate);
  };
  return { body, collecting, bring, leave, close };
}
