import { addAbortSignal, Readable } from 'node:stream';
import { type Body, type PutFacts, StorageError } from './port.js';

/**
 * Counts a body on its way into a store, cuts it at its limit, and ends it with the signal even while the next bytes
 * are being waited for.
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
      // Neither is waited for: a source that hangs would hold up the clean-up.
      if (this.body instanceof Readable) this.body.destroy();
      source.return?.().then(undefined, () => {});
    }
  }

  /** Throws the signal's reason when it has ended, else the body's own failure, if it had one: neither is the store's. */
  throwIfFailed(): void {
    this.facts.signal.throwIfAborted();
    if (this.failed) throw this.failed.error;
  }

  /** Only an error from here is the body's failure: a store that gives up throws into `chunks`. */
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
 * The stream, destroyed when the signal aborts. That may happen before anybody reads it, and an error without a
 * listener would end the process; a reader gets the error all the same.
 */
export const endedBy = (signal: AbortSignal, stream: Readable): Readable =>
  addAbortSignal(
    signal,
    stream.on('error', () => {}),
  );
