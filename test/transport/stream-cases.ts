import { expect, it } from '@jest/globals';
import type { RunStreams, StreamPiece } from '#queue';
import { type Bench, newRunId } from './bench.js';
import { until } from './until.js';

/** Every piece from an offset on, until the stream has ended. */
async function readAll(streams: RunStreams, runId: string, from = 0): Promise<StreamPiece[]> {
  const pieces: StreamPiece[] = [];
  let offset = from;
  await until(async () => {
    for (const piece of await streams.read(runId, offset)) {
      if (piece.kind === 'open' && pieces.length > 0) continue;
      pieces.push(piece);
      offset = piece.start + (piece.kind === 'bytes' ? piece.bytes.byteLength : 0);
    }
    return pieces.at(-1)?.kind === 'end';
  }, 60_000);
  return pieces;
}

const textOf = (pieces: readonly StreamPiece[]): string =>
  Buffer.concat(pieces.filter(({ kind }) => kind === 'bytes').map(({ bytes }) => bytes)).toString('utf8');

export function streamCases(bench: () => Bench): void {
  const open = async (environment?: Record<string, string>) => {
    const app = await bench().queues(environment);
    await until(() => app.queues.healthy(), 60_000);
    return app;
  };

  it('carry the media type, then all bytes in order, then the end, to every process', async () => {
    const [worker, first, second] = await Promise.all([open(), open(), open()]);
    const runId = newRunId();
    const writer = worker.queues.streams.open(runId, 'text/event-stream');
    const events = Array.from({ length: 50 }, (_, nth) => `data: event ${nth}\n\n`);
    for (const event of events) writer.write(Buffer.from(event));
    await writer.close(true);
    for (const reader of [first, second]) {
      const pieces = await readAll(reader.queues.streams, runId);
      const [opening, ...others] = pieces;
      expect(opening).toMatchObject({ kind: 'open', start: 0 });
      expect(Buffer.from(opening?.bytes ?? []).toString()).toBe('text/event-stream');
      expect(textOf(others)).toBe(events.join(''));
      expect(others.at(-1)).toMatchObject({ kind: 'end', start: events.join('').length });
    }
  });

  it('wake a reader for each piece, and are read from an offset', async () => {
    const [worker, gateway] = await Promise.all([open(), open()]);
    const runId = newRunId();
    const writer = worker.queues.streams.open(runId, 'text/event-stream');
    let woken = 0;
    const leave = gateway.queues.streams.subscribe(runId, () => (woken += 1));
    let written = '';
    // A signal may be lost until the subscription is in place.
    await until(() => {
      writer.write(Buffer.from('a'));
      written += 'a';
      return woken > 0;
    }, 60_000);
    // A reader continues where a piece ended.
    const offset = textOf(await gateway.queues.streams.read(runId, 0)).length;
    const before = woken;
    writer.write(Buffer.from('bc'));
    await until(() => woken > before, 60_000);
    await writer.close(true);
    leave();
    expect(textOf(await readAll(gateway.queues.streams, runId, offset))).toBe(`${written}bc`.slice(offset));
  });

  it('keep only the last bytes of a run, and offsets show what a late reader has missed', async () => {
    const [worker, gateway] = await Promise.all([open({ STREAM_KEPT_BYTES: '100000' }), open()]);
    const runId = newRunId();
    const writer = worker.queues.streams.open(runId, 'text/event-stream');
    const chunk = Buffer.alloc(10_000, 'x');
    for (let nth = 0; nth < 100; nth += 1) writer.write(chunk);
    await writer.close(true);
    const pieces = await readAll(gateway.queues.streams, runId);
    const [first] = pieces;
    expect(first?.kind).toBe('bytes');
    expect(first?.start).toBeGreaterThan(800_000);
    expect(pieces.at(-1)).toMatchObject({ kind: 'end', start: 1_000_000 });
    expect(textOf(pieces)).toHaveLength(1_000_000 - (first?.start ?? 0));
  });

  it('are those of one run only', async () => {
    const { queues } = await open();
    const [one, other] = [newRunId(), newRunId()];
    const writers = [one, other].map((runId) => queues.streams.open(runId, 'text/event-stream'));
    writers[0]?.write(Buffer.from('of one'));
    writers[1]?.write(Buffer.from('of the other'));
    await Promise.all(writers.map((writer) => writer.close(true)));
    expect(textOf(await readAll(queues.streams, one))).toBe('of one');
    expect(textOf(await readAll(queues.streams, other))).toBe('of the other');
  });

  it('are gone once their run is deleted', async () => {
    const [worker, gateway] = await Promise.all([open(), open()]);
    const [deleted, kept] = [newRunId(), newRunId()];
    for (const runId of [deleted, kept]) {
      const writer = worker.queues.streams.open(runId, 'text/event-stream');
      writer.write(Buffer.from('data: a word\n\n'));
      await writer.close(true);
      expect(await readAll(gateway.queues.streams, runId)).toHaveLength(3);
    }
    await gateway.queues.streams.forget(deleted);
    expect(await worker.queues.streams.read(deleted, 0)).toEqual([]);
    expect(await readAll(worker.queues.streams, kept)).toHaveLength(3);
  });

  it('have no end if the provider did not end them', async () => {
    const { queues } = await open();
    const runId = newRunId();
    const writer = queues.streams.open(runId, 'text/event-stream');
    writer.write(Buffer.from('half'));
    await writer.close(false);
    const pieces = await queues.streams.read(runId, 0);
    expect(pieces.map(({ kind }) => kind)).toEqual(['open', 'bytes']);
  });
}
