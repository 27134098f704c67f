import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { Reply } from './provider.js';

/** The bytes and headers of a reply as they are sent. */
function wireOf({ status, headers, body }: Reply): {
  status: number;
  headers: Record<string, string>;
  bytes: Buffer;
} {
  const bytes = Buffer.isBuffer(body)
    ? body
    : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  return { status, headers: { 'content-type': type, ...headers }, bytes };
}

/** SHA-256 of the bytes that `send` writes. */
export const digestOf = (answer: Reply): string =>
  createHash('sha256').update(wireOf(answer).bytes).digest('hex');

export function send(reply: FastifyReply, answer: Reply): FastifyReply {
  const { status, headers, bytes } = wireOf(answer);
  return reply.code(status).headers(headers).send(bytes);
}

/** Answers a call that the real provider would not accept. `why` tells the failing test what was wrong. */
export const refuseCall = (reply: FastifyReply, why: string, status = 400): FastifyReply =>
  send(reply, {
    status,
    headers: { 'content-type': 'application/json' },
    body: { detail: `simulator: ${why}` },
  });

/** Never answers. The connection stays open until the caller or the simulator closes it. */
export function hang(reply: FastifyReply): FastifyReply {
  return reply.hijack();
}

/** Resets the connection without an answer. */
export function resetConnection(reply: FastifyReply): FastifyReply {
  reply.hijack();
  reply.raw.socket?.resetAndDestroy();
  return reply;
}

/** Announces the full length, sends half of it, and closes. */
export function sendTruncated(reply: FastifyReply, answer: Reply): FastifyReply {
  const { status, headers, bytes } = wireOf(answer);
  reply.hijack();
  reply.raw.writeHead(status, { ...headers, 'content-length': bytes.length });
  reply.raw.write(bytes.subarray(0, bytes.length >> 1), () => reply.raw.socket?.destroy());
  return reply;
}

/** Sends one byte every `everyMs`. */
export function sendDripping(reply: FastifyReply, answer: Reply, everyMs: number): FastifyReply {
  const { status, headers, bytes } = wireOf(answer);
  async function* drip(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += 1) {
      yield bytes.subarray(at, at + 1);
      await pause(everyMs);
    }
  }
  return stream(reply, status, { ...headers, 'content-length': String(bytes.length) }, drip());
}

/** Pads the reply to `size` bytes with trailing spaces, which keeps JSON valid. */
export function sendPadded(reply: FastifyReply, answer: Reply, size: number): FastifyReply {
  const { status, headers, bytes } = wireOf(answer);
  return stream(reply, status, headers, padded(bytes, size, 0x20));
}

export function stream(
  reply: FastifyReply,
  status: number,
  headers: Record<string, string>,
  chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .send(Readable.from(chunks, { objectMode: false }));
}

const blockBytes = 64 * 1024;

/** Yields `start`, then `filler` up to `size` bytes; an infinite size never ends. Keeps a single block in memory. */
export function* padded(start: Buffer, size: number, filler: number): Generator<Buffer> {
  yield start;
  const block = Buffer.alloc(blockBytes, filler);
  for (let left = size - start.length; left > 0; left -= blockBytes)
    yield left >= blockBytes ? block : block.subarray(0, left);
}
