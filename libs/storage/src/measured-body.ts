import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Body, type PutFacts, StorageError, type Stored } from './port.js';

/**
 * Counts and hashes a body on its way into a store, cuts it at its limit, and ends it with the signal even
 * while the next bytes are being waited for.
 */
export class MeasuredBody {
  private bytes = 0;
  private readonly hash = createHash('sha256');
  private failed: { error: unknown } | undefined;

  constructor(
    private readonly body: Body,
    private readonly facts: PutFacts,
  ) {}

  async *chunks(): AsyncGenerator<Uint8Array> {
    const source = iterate(this.body);
    let ended = false;
    try {
      for (;;) {
        const chunk = await this.next(source);
        if (!chunk) break;
        yield chunk;
      }
      ended = true;
    } finally {
      if (!ended) this.leave(source);
    }
  }

  /** Call it once, after the last chunk. */
  stored(): Stored {
    return { bytes: this.bytes, sha256: this.hash.digest('hex') };
  }

  /** Throws the body's own failure, if it had one. */
  throwIfFailed(): void {
    if (this.failed) throw this.failed.error;
  }

  /** Only what goes wrong here is the body's failure: a store that gives up throws into `chunks`. */
  private async next(source: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
    const { signal, maxBytes = Infinity } = this.facts;
    try {
      signal.throwIfAborted();
      const next = await unlessAborted(source.next(), signal);
      if (next.done === true) return undefined;
      this.bytes += next.value.byteLength;
      if (this.bytes > maxBytes) throw tooLarge(maxBytes);
      this.hash.update(next.value);
      return next.value;
    } catch (error) {
      this.failed = { error };
      throw error;
    }
  }

  /** Not waited for: a source that hangs would hold up the clean-up. */
  private leave(source: AsyncIterator<Uint8Array>): void {
    if (this.body instanceof Readable) this.body.destroy();
    source.return?.().then(undefined, () => {});
  }
}

function iterate(body: Body): AsyncIterator<Uint8Array> {
  if (!(body instanceof Uint8Array)) return body[Symbol.asyncIterator]();
  return pieces(body);
}

/** Hashed in one go, thirty mebibytes would hold up the event loop for a tenth of a second. */
const pieceBytes = 1024 * 1024;

async function* pieces(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.byteLength; at += pieceBytes) {
    yield body.subarray(at, at + pieceBytes);
    await nextTurn();
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

const tooLarge = (maxBytes: number) =>
  new StorageError('too_large', `The body is longer than ${maxBytes} bytes`);
