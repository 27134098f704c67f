import type { AssetStore } from '#storage';

const chunk = Buffer.alloc(65_536, 7);

export async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

export const still = (text: string): Uint8Array => Buffer.from(text);

/** So many bytes, then the error. */
export async function* failing(bytes: number, error: Error): AsyncGenerator<Uint8Array> {
  yield* some(bytes);
  throw error;
}

/** So many bytes, then `onSilence` is called and nothing comes any more. */
export async function* silentAfter(bytes: number, onSilence: () => void): AsyncGenerator<Uint8Array> {
  yield* some(bytes);
  onSilence();
  await new Promise(() => {});
}

/** Never ends by itself; `closed()` says whether its reader has let go of it. */
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

export async function keysOf(store: AssetStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix, AbortSignal.timeout(60_000))) keys.push(key);
  return keys;
}

async function* some(bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; left -= chunk.length)
    yield chunk.subarray(0, Math.min(left, chunk.length));
}
