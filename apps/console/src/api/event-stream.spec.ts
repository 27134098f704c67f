import { describe, expect, it } from '@jest/globals';
import { EventParser, type ServerEvent } from './event-stream.ts';

function eventsIn(chunks: readonly string[]): ServerEvent[] {
  const parser = new EventParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
}

const stream = [
  ': keep-alive',
  '',
  'event: progress',
  'data: {"progress": 0.5}',
  '',
  'data:one',
  'data: two',
  'data',
  'id: 7',
  '',
  'event: nothing',
  '',
  'data: Ünïcode 🦊',
  '',
  '',
];
const expected = [
  { event: 'progress', data: '{"progress": 0.5}' },
  { event: 'message', data: 'one\ntwo\n' },
  { event: 'message', data: 'Ünïcode 🦊' },
];

describe.each([
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
])('events with %s', (_, lineEnd) => {
  const text = stream.join(lineEnd);

  it('are the same in chunks of any length', () => {
    for (let length = 1; length <= text.length; length += 1) {
      const chunks = text.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [];
      expect(eventsIn(chunks)).toEqual(expected);
    }
  });

  it('are the same wherever the stream is cut in two', () => {
    for (let cut = 0; cut <= text.length; cut += 1)
      expect(eventsIn([text.slice(0, cut), text.slice(cut)])).toEqual(expected);
  });

  it('leave out one that is cut off', () => {
    expect(eventsIn([`data: whole${lineEnd}${lineEnd}data: {"half${lineEnd}`])).toEqual([
      { event: 'message', data: 'whole' },
    ]);
  });
});
