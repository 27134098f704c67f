import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { hasTooManyPieces } from './pieces.js';

/** How much is read of what a caller still sends after its answer, and for how long; `maxQuietMs` is without a byte. */
const usualLimits = { maxMs: 10_000, maxQuietMs: 5_000, maxBytes: 128 * 1024 * 1024 };
export type LingerLimits = typeof usualLimits;
const lookMs = 250;
/** The most that is read of a body in too many small pieces, in bytes. */
const maxBytesUnparsed = 1024 * 1024;

/**
 * Reads on when an answer is complete before its request is. A connection that is closed with bytes unread is reset, and
 * the reset may reach the caller before it has read the answer.
 */
export function lingerAfterEarlyAnswers(server: FastifyInstance, limits = usualLimits): void {
  server.addHook('onSend', ({ raw }, reply, payload, done) => {
    const { socket } = raw;
    // A call by `inject` has no connection.
    if (!raw.complete && socket instanceof Socket) {
      // Node closes by this method what it does not keep alive, as soon as the answer is written.
      socket.destroySoon = () => {
        Reflect.deleteProperty(socket, 'destroySoon');
        if (raw.complete) return socket.destroySoon();
        raw.once('end', () => socket.destroySoon());
        lingerBeforeClose(socket, limits);
      };
      discardRest(raw, () => {
        if (reply.raw.writableFinished) readUnparsed(socket, limits);
        else reply.raw.once('finish', () => readUnparsed(socket, limits));
      });
      reply.raw.once('finish', () => {
        if (!raw.complete) boundRest(socket, limits, raw);
      });
    }
    done(null, payload);
  });
}

/** Ends our side of the connection, and closes it when the caller has ended its own or the limits are reached. */
export function lingerBeforeClose(socket: Socket, limits = usualLimits): void {
  socket.end();
  socket.once('end', () => socket.destroySoon());
  socket.resume();
  boundRest(socket, limits);
}

/** Takes the rest of a body, and stops reading the connection when it comes in too many small pieces. */
function discardRest(body: IncomingMessage, onTooMany: () => void): void {
  let pieces = 0;
  let bytes = 0;
  const drop = (chunk: Buffer) => {
    pieces += 1;
    bytes += chunk.length;
    if (!hasTooManyPieces(pieces, bytes)) return;
    // A body that wants more resumes its connection.
    body._read = () => {};
    body.off('data', drop).pause();
    body.socket.pause();
    // The parser has not finished with the bytes that it was called for.
    setImmediate(onTooMany);
  };
  body.on('data', drop).resume();
}

/** Lingers without parsing what comes, because the work of parsing depends on the pieces. */
function readUnparsed(socket: Socket, limits: LingerLimits): void {
  Reflect.deleteProperty(socket, 'destroySoon');
  if (socket.destroyed) return;
  let bytes = 0;
  const drop = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytesUnparsed) socket.destroy();
  };
  // The parser gets its bytes directly until there is a listener, and after that by a listener of its own. While it gets
  // them directly, it also starts and stops the reading: the connection has to read before it loses the parser.
  socket.once('resume', () => socket.on('data', drop).removeAllListeners('data').on('data', drop));
  lingerBeforeClose(socket, limits);
}

/** Closes the connection when too much of a body that nobody wants has come, or none for too long. */
function boundRest(
  socket: Socket,
  { maxMs, maxQuietMs, maxBytes }: LingerLimits,
  body?: IncomingMessage,
): void {
  const startedAtMs = performance.now();
  const readBefore = socket.bytesRead;
  let last = { bytes: readBefore, atMs: startedAtMs };
  const timer = setInterval(
    () => {
      const nowMs = performance.now();
      if (socket.bytesRead !== last.bytes) last = { bytes: socket.bytesRead, atMs: nowMs };
      const isOver = nowMs - startedAtMs > maxMs || nowMs - last.atMs > maxQuietMs;
      if (isOver || last.bytes - readBefore > maxBytes) socket.destroy();
    },
    Math.min(lookMs, maxQuietMs),
  );
  const stop = () => clearInterval(timer);
  socket.once('close', stop);
  body?.once('end', stop);
}
