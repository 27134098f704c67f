import { addAbortSignal, Readable } from 'node:stream';
import { type Body, type PutFacts, StorageError } from './port.js';

/**
 * Counts the bytes of a body that is being stored, fails above its limit, and aborts with the signal even
 * while it waits for the next bytes.
 */
export class MeasuredBody {
  bytes = 0;
  private readonly body: AsyncIterable<Uint8Array>;
  private failed: { error: unknown } | undefined;

  constructor(
    body: Body,
    private readonly facts: PutFacts,
  ) {
    this.body = body instanceof Uint8Array ? Readable.from([body]) : body;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    const source = this.body[Symbol.asyncIterator]();
    try {
      for (let chunk = await this.next(source); chunk; chunk = await this.next(source)) yield chunk;
    } finally {
      // Neither call is awaited, because a source that hangs would block the cleanup.
      if (this.body instanceof Readable) this.body.destroy();
      source.return?.().then(undefined, () => {});
    }
  }

  /** Throws the signal's reason or the body's own error, if any. Neither is a failure of the store. */
  throwIfFailed(): void {
    this.facts.signal.throwIfAborted();
    if (this.failed) throw this.failed.error;
  }

  /** Records the body's own errors; a store that gives up throws its error into `chunks` instead. */
  private async next(source: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
    const { signal, maxBytes = Infinity } = this.facts;
    try {
      signal.throwIfAborted();
      const next = await unlessAborted(source.next(), signal);
      if (next.done === true) return undefined;
      this.bytes += next.value.byteLength;
      if (this.bytes <= maxBytes) return next.value;
      throw new StorageError('too_large', `The body is longer than ${maxBytes} bytes`);
    } catch (error) {
      this.failed = { error };
      throw error;
    }
  }
}

async function unlessAborted<T>(waiting: Promise<T>, signal: AbortSignal): Promise<T> {
  let stopListening: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    stopListening = () => signal.removeEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([waiting, aborted]);
  } finally {
    stopListening?.();
  }
}

/**
 * Destroys the stream when the signal aborts. That may happen before the stream is read, and an error without
 * a listener would crash the process, so an empty listener is added. A reader still receives the error.
 */
export const endedBy = (signal: AbortSignal, stream: Readable): Readable =>
  addAbortSignal(
    signal,
    stream.on('error', () => {}),
  );
