import { describe, expect, it } from '@jest/globals';
import type { FoldedEvents } from './contract.js';
import { arrivingEvents, foldEvents, type StreamSpec } from './event-fold.js';
import { reply } from './testing/declared-adapter.js';

const chat: StreamSpec = {
  request: { member: 'stream' },
  maxTokens: [],
  writtenTokens: [],
  fold: [{ from: '', to: '' }],
  names: { delta: 'message' },
  appended: ['/choices/*/delta/notes'],
  text: ['/choices/*/delta/content', ['/choices/*/delta/thought', '/choices/*/delta/reasoning']],
  end: '[DONE]',
  errorWhen: { path: '/error' },
  errorStatus: '/error/code',
  statuses: { busy: 429 },
};

const folded = (spec: Partial<StreamSpec>, ...events: readonly unknown[]): FoldedEvents =>
  foldEvents(
    { ...chat, ...spec },
    reply(
      events.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join(''),
    ),
  );

const at = (index: unknown, part: string) => ({ index, part });
const delta = (members: object, index = 0) => ({ choices: [{ index, delta: members }] });

describe('the document of a stream', () => {
  it('has the text of each answer, whatever the order of their events', () => {
    const events = [
      delta({ content: 'a' }, 1),
      delta({ content: 'b' }),
      delta({ content: 'c' }, 1),
      delta({ content: null }),
    ];
    expect(folded({}, ...events)).toMatchObject({
      document: {
        choices: [
          { index: 1, message: { content: 'ac' } },
          { index: 0, message: { content: 'b' } },
        ],
      },
      writtenBytes: 3,
    });
  });

  it('has the parts of tool calls by their index, and the elements of appended lists', () => {
    const call = (index: number, members: object) => delta({ tool_calls: [{ index, ...members }] });
    const { document } = folded(
      {},
      call(0, { id: 'one' }),
      call(1, { id: 'two' }),
      call(0, { function: { name: 'find' } }),
      delta({ notes: ['x'] }),
      delta({ notes: ['y', 'z'] }),
    );
    expect(document).toMatchObject({
      choices: [
        {
          message: {
            tool_calls: [{ index: 0, id: 'one', function: { name: 'find' } }, { id: 'two' }],
            notes: ['x', 'y', 'z'],
          },
        },
      ],
    });
  });

  it('counts a text once if the event has it under two names', () => {
    expect(folded({}, delta({ thought: 'abc', reasoning: 'abc' })).writtenBytes).toBe(3);
  });

  it('keeps the last value that is not null', () => {
    const { document } = folded({}, { usage: { n: 1 } }, { usage: { n: 2 } }, { usage: null });
    expect(document).toEqual({ usage: { n: 2 } });
  });

  it('places values by the numbers of their event, and ignores events without one', () => {
    const fold = [{ from: '/part', to: '/content/{index}/text' }] as const;
    const events = [
      at(0, 'a'),
      at(1, 'b'),
      at(0, 'c'),
      at(-1, 'x'),
      at(1e9, 'x'),
      at('0', 'x'),
      { part: 'x' },
    ];
    expect(folded({ fold, text: ['/part'] }, ...events).document).toEqual({
      content: [{ text: 'ac' }, { text: 'b' }],
    });
  });

  it('survives hostile events', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const many = Array.from({ length: 2000 }, (_, index) => ({ index: index * 7 }));
    const { document } = folded(
      {},
      deep,
      '{"__proto__":{"polluted":true},"constructor":{"prototype":1}}',
      'not JSON',
      '[1]',
      { list: many },
      { list: [{ index: 1e15 }, { index: -4 }] },
      { ok: true },
    );
    expect(document).toMatchObject({ ok: true });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect((document as { list: object[] }).list.length).toBeLessThanOrEqual(1001);
  });
});

describe('the error of a stream', () => {
  it.each([
    [{ error: { code: 502 } }, 502],
    [{ error: { code: 'busy' } }, 429],
    [{ error: { code: 'other' } }, 500],
    [{ error: { code: 200 } }, 500],
    [{ error: { code: 'constructor' } }, 500],
    [{ error: 'broken' }, 500],
  ])('of %j has the status %d', (event, status) => {
    expect(folded({}, event, '[DONE]').error?.status).toBe(status);
  });

  it('is the first one, with the members of a flat event in an object', () => {
    const errorWhen = { path: '/type', equals: 'error' } as const;
    const { error } = folded({ errorWhen }, { type: 'error', code: 'busy' }, { type: 'error', code: 'x' });
    expect(error).toEqual({ status: 429, body: { error: { type: 'error', code: 'busy' } } });
  });
});

describe('the length of what the model wrote', () => {
  it('counts every text below a delta in bytes, whatever its place', () => {
    const parts = [
      { tool_calls: [{ index: 0, id: 'call_1', type: 'custom', custom: { input: 'abc' } }] },
      { reasoning_details: [{ type: 'reasoning.summary', summary: 'de' }] },
      { content: '\u6865' },
      { role: 'assistant', content: null },
    ];
    expect(folded({}, ...parts.map((each) => delta(each))).writtenBytes).toBe(3 + 2 + 3);
  });

  it('counts the declared places instead', () => {
    const written = ['/block/data'];
    expect(
      folded({ written }, { block: { data: 'abc', text: 'x' } }, delta({ content: 'x' })).writtenBytes,
    ).toBe(3);
  });
});

describe('the usage of a stream is final', () => {
  const usage = { usage: { n: 1 } };
  const spec = { usageWhen: { path: '/usage' }, answered: { every: '/choices/*/finish_reason' } } as const;

  it('with the last part of every answer, or later', () => {
    const both = [delta({}, 0), delta({}, 1)];
    expect(folded(spec, ...both, usage, finished(0), usage)).toMatchObject({ hasUsage: false });
    expect(folded(spec, ...both, finished(0), { ...finished(1), ...usage })).toMatchObject({
      hasUsage: true,
    });
    expect(folded(spec, ...both, finished(0), finished(1), usage)).toMatchObject({ hasUsage: true });
  });

  it('at the end, if it was reported by then or no event is declared', () => {
    expect(folded(spec, usage, '[DONE]')).toMatchObject({ hasUsage: true });
    expect(folded(spec, '[DONE]')).toMatchObject({ hasUsage: false });
    expect(folded(spec, '[DONE]', usage)).toMatchObject({ hasUsage: true });
    expect(folded({}, '[DONE]')).toMatchObject({ hasUsage: true });
  });
});

describe('events that are read while they arrive', () => {
  const answered = { when: [{ path: '/done' }] } as const;

  it('miss their usage from the last part of the answer on, but not after an error', () => {
    const spec = { answered, usageWhen: { path: '/usage' } } as const;
    expect(take(spec, {}).isMissingUsage).toBe(false);
    expect(take(spec, { done: 1 }).isMissingUsage).toBe(true);
    expect(take(spec, { done: 1 }, { usage: {} }).isMissingUsage).toBe(false);
    expect(take(spec, { done: 1 }, { error: {} }).isMissingUsage).toBe(false);
  });

  it('have ended with the last one, unless others may follow', () => {
    expect(take({}, '[DONE]').hasEnded).toBe(true);
    expect(take({ goesOn: true }, '[DONE]').hasEnded).toBe(false);
  });

  it('are not all read if one is too large', () => {
    expect(take({}, { a: 1 }).folded.isPartial).toBe(false);
    expect(take({}, { a: 'x'.repeat(2 ** 20) }).folded).toMatchObject({ isPartial: true, document: {} });
  });
});

it('a stream is complete after its end', () => {
  const spec = { end: [{ path: '/type', equals: 'end' }] } as const;
  expect(folded(spec, {})).toMatchObject({ isComplete: false });
  expect(folded(spec, { type: 'end' }, {})).toMatchObject({ isComplete: true });
});

it('reads the last event of a stream that was not cut even without its blank line', () => {
  const spec = { ...chat };
  expect(foldEvents(spec, reply('data: {"a":1}\n\ndata: [DONE]'))).toMatchObject({ isComplete: true });
  expect(foldEvents(spec, { ...reply('data: {"a":1}\n\ndata: [DONE]'), cut: 'reset' })).toMatchObject({
    isComplete: false,
  });
});

function take(spec: Partial<StreamSpec>, ...events: readonly unknown[]) {
  const arriving = arrivingEvents({ ...chat, ...spec });
  for (const each of events) arriving.take(typeof each === 'string' ? each : JSON.stringify(each));
  return arriving;
}

const finished = (index: number) => ({ choices: [{ index, delta: {}, finish_reason: 'stop' }] });
