import { describe, expect, it } from '@jest/globals';
import { type FoldedEvents, foldEvents, type StreamSpec } from './event-fold.js';
import { reply } from './testing/declared-adapter.js';

const chat: StreamSpec = {
  request: { member: 'stream' },
  maxTokens: [],
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
      characters: 3,
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
    expect(folded({}, delta({ thought: 'abc', reasoning: 'abc' })).characters).toBe(3);
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

it('a stream is complete after its end, and has usage after the event that brings it', () => {
  const spec = { usageWhen: { path: '/usage' }, end: [{ path: '/type', equals: 'end' }] } as const;
  expect(folded(spec, {})).toMatchObject({ isComplete: false, hasUsage: false });
  expect(folded(spec, { usage: 1 })).toMatchObject({ isComplete: false, hasUsage: true });
  expect(folded(spec, { type: 'end' }, {})).toMatchObject({ isComplete: true, hasUsage: false });
});

it('reads the last event of a stream that was not cut even without its blank line', () => {
  const spec = { ...chat };
  expect(foldEvents(spec, reply('data: {"a":1}\n\ndata: [DONE]'))).toMatchObject({ isComplete: true });
  expect(foldEvents(spec, { ...reply('data: {"a":1}\n\ndata: [DONE]'), cut: 'reset' })).toMatchObject({
    isComplete: false,
  });
});
