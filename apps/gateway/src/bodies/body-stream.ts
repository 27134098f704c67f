import type { IncomingMessage } from 'node:http';
import { RouterError } from '#errors';

/** A body that is not complete brings at least so much in each period, or its caller is let go. */
export const minBytesAPeriod = 240 * 1024;
export const periodMs = 15_000;

/**
 * The body as it arrives. Only the time that is spent waiting for the caller counts against its pace: whoever takes the
 * chunks may be slow. Left early, the rest is discarded.
 */
export async function* bodyStream(request: IncomingMessage, maxBytes: number): AsyncGenerator<Buffer> {
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  let size = 0;
  let periodBytes = 0;
  let waitedMs = 0;
  try {
    for (;;) {
      const askedAtMs = performance.now();
      const next = await withinPeriod(chunks.next(), periodMs - waitedMs);
      if (next.done === true) return;
      size += next.value.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      waitedMs += performance.now() - askedAtMs;
      periodBytes += next.value.length;
      if (periodBytes >= minBytesAPeriod) [periodBytes, waitedMs] = [0, 0];
      yield next.value;
    }
  } catch (error) {
    throw error instanceof RouterError ? error : callerLeft(error);
  } finally {
    // The iterator's own way out waits for the next chunk; a stream with its listener does not flow.
    request.removeAllListeners('readable').resume();
  }
}

async function withinPeriod<T>(waiting: Promise<T>, leftMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), leftMs);
  });
  return Promise.race([waiting, late]).finally(() => clearTimeout(timer));
}

export const tooLarge = (maxBytes: number): RouterError =>
  new RouterError('invalid_input', `The body is larger than ${maxBytes} bytes.`, { status: 413 });

export const tooSlow = (): RouterError =>
  new RouterError('invalid_input', 'The body took too long to arrive.', { headers: { Connection: 'close' } });

export const callerLeft = (cause?: unknown): RouterError =>
  new RouterError('client_disconnected', 'The caller went away.', { cause });
