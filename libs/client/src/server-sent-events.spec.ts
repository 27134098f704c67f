import { describe, expect, it, jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { eventsOf } from './server-sent-events.js';

/** The events of a body that arrives in these pieces. */
async function events(...pieces: readonly (string | Uint8Array)[]) {
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

interface Vector {
  name: string;
  text: string;
  events: { event?: string; data: string; id?: string }[];
}

const vectors = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../../test/protocols/server-sent-events.json'), 'utf8'),
) as Vector[];

describe('eventsOf', () => {
  it.each(vectors)('reads $name, in pieces of any length', async ({ text, events: expected }) => {
    const bytes = Buffer.from(text);
    for (let length = 1; length <= bytes.length + 1; length += 1) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / length) }, (_, nth) =>
        bytes.subarray(nth * length, (nth + 1) * length),
      );
      expect(await events(...pieces)).toEqual(
        expected.map(({ event = 'message', data, id }) => [event, data, id]),
      );
    }
  });

  it('delivers an event before the next byte, whatever ends its lines', async () => {
    for (const end of ['\n\n', '\r\n\r\n', '\r\r']) {
      const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>>();
      const writer = writable.getWriter();
      const arriving = eventsOf(readable, new AbortController().signal);
      void writer.write(new Uint8Array(Buffer.from(`data: a${end}`)));
      expect(await arriving.next()).toMatchObject({ value: { data: 'a' } });
      await arriving.return(undefined);
    }
  });

  it('searches each piece of a long line once', async () => {
    const counted = jest.spyOn(String.prototype, 'split');
    const piece = 'x'.repeat(4096);
    const found = await events('data: ', ...Array.from({ length: 256 }, () => piece), '\n\n');
    const searched = counted.mock.contexts.reduce<number>((sum, each) => sum + String(each).length, 0);
    counted.mockRestore();
    expect(found).toEqual([['message', piece.repeat(256), undefined]]);
    expect(searched).toBeLessThan(2 * 256 * piece.length);
  });
});
