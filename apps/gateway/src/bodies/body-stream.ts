import type { IncomingMessage } from 'node:http';
import { RouterError } from '#errors';
import { settlesWithin } from '#observability';
import { BodyBlocks } from './body-blocks.js';

/** Minimum number of bytes per period; a slower body is rejected. */
const minBytesAPeriod = 240 * 1024;
const periodMs = 15_000;

/** The request is paused while at least this many bytes wait to be taken. */
const maxHeldBytes = 64 * 1024;

/**
 * Yields the body as it arrives, with small chunks joined. Only time spent waiting for the caller counts against the
 * minimum pace and `maxMs`, so the consumer may be slow. If the consumer stops early, the rest is discarded.
 */
export async function* bodyStream(
  request: IncomingMessage,
  maxBytes: number,
  maxMs = Infinity,
): AsyncGenerator<Buffer> {
  const blocks = new BodyBlocks();
  let failure: unknown;
  let hasEnded = request.readableEnded;
  let wake: (() => void) | undefined;
  const fail = (reason: unknown) => {
    failure ??= reason;
    wake?.();
  };
  const add = (chunk: Buffer) => {
    if (failure !== undefined) return;
    try {
      blocks.add(chunk);
      if (blocks.size > maxBytes) throw tooLarge(maxBytes);
      if (blocks.held >= maxHeldBytes) request.pause();
      wake?.();
    } catch (error) {
      fail(error);
    }
  };
  const end = () => {
    hasEnded = true;
    wake?.();
  };
  const lost = (cause?: unknown) => {
    if (!hasEnded)
      fail(new RouterError('client_disconnected', 'The caller closed the connection.', { cause }));
  };
  let periodBytes = 0;
  let waitedMs = 0;
  let leftMs = maxMs;
  try {
    if (request.destroyed) lost();
    else request.on('data', add).on('end', end).on('close', lost).on('error', lost);
    for (;;) {
      if (failure !== undefined) throw failure as Error;
      periodBytes += blocks.held;
      if (periodBytes >= minBytesAPeriod) [periodBytes, waitedMs] = [0, 0];
      if (blocks.held > 0) {
        yield* blocks.take();
        continue;
      }
      if (hasEnded) return;
      const arrival = new Promise<void>((resolve) => (wake = resolve));
      const waitingSinceMs = performance.now();
      request.resume();
      if (!(await settlesWithin(arrival, Math.min(periodMs - waitedMs, leftMs)))) throw tooSlow();
      const tookMs = performance.now() - waitingSinceMs;
      waitedMs += tookMs;
      leftMs -= tookMs;
    }
  } finally {
    request.off('data', add).off('end', end).off('close', lost).off('error', lost).resume();
  }
}

export const tooLarge = (maxBytes: number): RouterError =>
  new RouterError('invalid_input', `The body is larger than ${maxBytes} bytes.`, { status: 413 });

const tooSlow = (): RouterError =>
  new RouterError('invalid_input', 'The body took too long to arrive.', { headers: { Connection: 'close' } });
