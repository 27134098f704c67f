import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const chunk = Buffer.alloc(65_536, 7);

export async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

export const still = (text: string): Uint8Array => Buffer.from(text);

/** Yields `bytes` bytes, then throws the error. */
export async function* failing(bytes: number, error: Error): AsyncGenerator<Uint8Array> {
  yield* some(bytes);
  throw error;
}

/** Yields `bytes` bytes, then calls `onSilence` and never yields again. */
export async function* silentAfter(bytes: number, onSilence: () => void): AsyncGenerator<Uint8Array> {
  yield* some(bytes);
  onSilence();
  await new Promise(() => {});
}

/** Never ends by itself; `closed()` says whether its reader has released it. */
export function endless(): { body: AsyncIterable<Uint8Array>; closed: () => boolean } {
  let closed = false;
  async function* body() {
    try {
      for (;;) yield chunk;
    } finally {
      closed = true;
    }
  }
  return { body: body(), closed: () => closed };
}

/**
 * Yields `bytes` bytes; `mostHeld` returns the largest growth of this process's memory meanwhile. Above `much`,
 * it collects garbage before it measures.
 */
export function weighed(
  bytes: number,
  much: number,
): { body: AsyncIterable<Uint8Array>; mostHeld: () => number } {
  collectGarbage();
  const before = inMemory();
  let most = 0;
  async function* body() {
    for (let sent = 0; sent < bytes; sent += chunk.length) {
      // The growth may only be garbage that was not collected yet.
      if (inMemory() - before >= much) collectGarbage();
      most = Math.max(most, inMemory() - before);
      yield chunk;
    }
  }
  return { body: body(), mostHeld: () => most };
}

function inMemory(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function* some(bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; left -= chunk.length)
    yield chunk.subarray(0, Math.min(left, chunk.length));
}
