import { describe, expect, it } from '@jest/globals';
import { eventsOf } from './server-sent-events.js';

/** The events of a body that arrives in these pieces. */
async function events(...pieces: (string | Uint8Array)[]) {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const piece of pieces)
        controller.enqueue(new Uint8Array(typeof piece === 'string' ? Buffer.from(piece) : piece));
      controller.close();
    },
  });
  const found = [];
  for await (const { event, data, id } of eventsOf(body, new AbortController().signal))
    found.push([event, data, id]);
  return found;
}

describe('eventsOf', () => {
  it.each([
    ['data: a\n\n', [['message', 'a', undefined]]],
    [
      'event: delta\nid: 7\ndata: {"a": 1}\n\ndata: b\n\n',
      [
        ['delta', '{"a": 1}', '7'],
        ['message', 'b', '7'],
      ],
    ],
    ['data: a\ndata: b\ndata:\n\n', [['message', 'a\nb\n', undefined]]],
    ['data:  two spaces\n\n', [['message', ' two spaces', undefined]]],
    ['data:{"a":"b: c"}\r\n\r\n', [['message', '{"a":"b: c"}', undefined]]],
    [
      'data: a\r\rdata: b\r\r\n',
      [
        ['message', 'a', undefined],
        ['message', 'b', undefined],
      ],
    ],
    [': a comment\nretry: 10\nevent: nothing\n\ndata: a\n\n', [['message', 'a', undefined]]],
    ['\uFEFFdata: a\n\ndata: cut off\n', [['message', 'a', undefined]]],
    ['data\n\n', [['message', '', undefined]]],
  ])('reads %j', async (text, expected) => expect(await events(text)).toEqual(expected));

  it('joins events and characters that arrive in pieces', async () => {
    const bytes = Buffer.from('data: café\r\n\r\ndata: b\r\n\r\n');
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    expect(await events(...pieces)).toEqual([
      ['message', 'café', undefined],
      ['message', 'b', undefined],
    ]);
  });
});
