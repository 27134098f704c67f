import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { dataOf, EventSplitter } from './event-splitter.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (part: Uint8Array): string => Buffer.from(part).toString();

function split(chunks: readonly Uint8Array[]): { events: string[]; rest: string } {
  const splitter = new EventSplitter();
  const events = chunks.flatMap((chunk) => splitter.push(chunk)).map(text);
  return { events, rest: text(splitter.rest()) };
}

interface Vector {
  name: string;
  text: string;
  events: { data: string }[];
  /** The data of the event that the text ends in. */
  cut?: string;
}

const vectors = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../../test/protocols/server-sent-events.json'), 'utf8'),
) as Vector[];

/** Text with many line ends, in pieces of any size. */
const chunked = fc
  .array(fc.constantFrom('\r', '\n', '\r\n', 'data: a', 'data:b', ': ping', 'event: x', '\uFEFF', 'é🜁', ' '))
  .chain((parts) => {
    const whole = bytes(parts.join(''));
    return fc
      .array(fc.nat(whole.length), { maxLength: 20 })
      .map((cuts) => [0, ...cuts.toSorted((one, other) => one - other), whole.length])
      .map((cuts) => ({
        whole,
        chunks: cuts.slice(1).map((end, index) => whole.subarray(cuts[index], end)),
      }));
  });

describe('EventSplitter', () => {
  it.each([
    ['LF', 'data: a\n\ndata: b\n\ndata: c', ['data: a\n\n', 'data: b\n\n'], 'data: c'],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n', ['data: a\r\n\r\n', 'data: b\r\n\r\n'], ''],
    ['CR', 'data: a\r\rdata: b\r\r', ['data: a\r\r'], 'data: b\r\r'],
    ['a blank line of another kind', 'data: a\r\n\ndata: b\n\r\n', ['data: a\r\n\n', 'data: b\n\r\n'], ''],
    ['a comment', ': ping\n\ndata: a\n\n', [': ping\n\n', 'data: a\n\n'], ''],
    ['an event without lines', '\n\ndata: a\n\n', ['\n', '\n', 'data: a\n\n'], ''],
    ['nothing', '', [], ''],
  ])('splits events with %s', (_name, stream, events, rest) => {
    expect(split([bytes(stream)])).toEqual({ events, rest });
  });

  it.each(vectors)('finds the data of $name, in pieces of any length', ({ text: whole, events, cut }) => {
    const data = [...events.map((each) => each.data), ...(cut === undefined ? [] : [cut])].filter(Boolean);
    const given = bytes(whole);
    for (let length = 1; length <= given.length + 1; length += 1) {
      const pieces = Array.from({ length: Math.ceil(given.length / length) }, (_, nth) =>
        given.subarray(nth * length, (nth + 1) * length),
      );
      const found = split(pieces);
      expect([...found.events, found.rest].map((each) => dataOf(bytes(each))).filter(Boolean)).toEqual(data);
    }
  });

  it('returns the same bytes and the same events for any chunks', () => {
    fc.assert(
      fc.property(chunked, ({ whole, chunks }) => {
        const { events, rest } = split(chunks);
        expect(events.join('') + rest).toBe(text(whole));
        expect({ events, rest }).toEqual(split([whole]));
      }),
    );
  });

  it('keeps nothing of a chunk that its owner reuses', () => {
    const splitter = new EventSplitter();
    const chunk = bytes('data: a');
    splitter.push(chunk);
    chunk.fill(0);
    expect(splitter.push(bytes('\n\n')).map(text)).toEqual(['data: a\n\n']);
  });
});

describe('dataOf', () => {
  it.each([
    ['data: a\n\n', 'a'],
    ['data:a\r\n\r\n', 'a'],
    ['data:  a\r\r', ' a'],
    ['event: x\ndata: a\nid: 1\ndata: b\n\n', 'a\nb'],
    ['data\ndata\n\n', '\n'],
    ['\uFEFFdata: a\n\n', 'a'],
    [': data: a\n\n', ''],
    ['database: a\n\n', ''],
    ['\n', ''],
  ])('of %j is %j', (event, data) => expect(dataOf(bytes(event))).toBe(data));
});
