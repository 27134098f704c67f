import { expect, it } from '@jest/globals';
import { maxPieceBytes, type StreamPiece, StreamWriter } from './run-streams.js';

/** A writer whose pieces are stored when `store` is called. */
function slowWriter() {
  const sent: StreamPiece[] = [];
  let answer: ((isStored: boolean) => void) | undefined;
  const writer = new StreamWriter((piece) => {
    sent.push(piece);
    return new Promise((stored) => (answer = stored));
  }, 'text/event-stream');
  return {
    writer,
    sent,
    store: async (isStored = true) => {
      answer?.(isStored);
      await new Promise(setImmediate);
    },
  };
}

it('gathers what arrives while a piece is sent', async () => {
  const { writer, sent, store } = slowWriter();
  for (const text of ['a', 'b', 'c']) writer.write(Buffer.from(text));
  await store();
  writer.write(Buffer.from('d'));
  await store();
  const closing = writer.close(true);
  await store();
  await store();
  await closing;
  expect(sent.map(({ kind, start, bytes }) => [kind, start, Buffer.from(bytes).toString()])).toEqual([
    ['open', 0, 'text/event-stream'],
    ['bytes', 0, 'abc'],
    ['bytes', 3, 'd'],
    ['end', 4, ''],
  ]);
});

it('splits large chunks, byte for byte', async () => {
  const { writer, sent, store } = slowWriter();
  const chunk = Buffer.from(Array.from({ length: maxPieceBytes * 2 + 5 }, (_, nth) => nth % 251));
  writer.write(chunk);
  const closing = writer.close(true);
  for (let nth = 0; nth < 5; nth += 1) await store();
  await closing;
  const pieces = sent.filter(({ kind }) => kind === 'bytes');
  expect(pieces.map(({ bytes }) => bytes.byteLength)).toEqual([maxPieceBytes, maxPieceBytes, 5]);
  expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).equals(chunk)).toBe(true);
});

it('sends nothing after a piece that was not stored, because its readers wait for the outcome', async () => {
  const { writer, sent, store } = slowWriter();
  await store();
  writer.write(Buffer.from('lost'));
  await store(false);
  writer.write(Buffer.from('more'));
  await writer.close(true);
  expect(sent.map(({ kind }) => kind)).toEqual(['open', 'bytes']);
});
