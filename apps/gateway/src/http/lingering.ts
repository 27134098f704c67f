import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { hasTooManyPieces } from './pieces.js';

/** How much to read of a request after its answer, and for how long. `maxQuietMs` limits the time without a byte. */
const usualLimits = { maxMs: 10_000, maxQuietMs: 5_000, maxBytes: 128 * 1024 * 1024 };
export type LingerLimits = typeof usualLimits;
const lookMs = 250;
/** Maximum number of bytes to read of a body that arrives in too many small pieces. */
const maxBytesUnparsed = 1024 * 1024;

/**
 * Keeps reading a request that is answered before it has fully arrived. Closing a connection with unread bytes resets
 * it, and the reset may reach the caller before it has read the answer.
 */
export function lingerAfterEarlyAnswers(server: FastifyInstance, limits = usualLimits): void {
  server.addHook('onSend', ({ raw }, reply, payload, done) => {
    const { socket } = raw;
    // A call by `inject` has no connection.
    if (!raw.complete && socket instanceof Socket) {
      // Node calls this method as soon as the answer is written, to close a connection that it does not keep alive.
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

/** Discards the rest of a body, and stops reading the connection if it arrives in too many small pieces. */
function discardRest(body: IncomingMessage, onTooMany: () => void): void {
  let pieces = 0;
  let bytes = 0;
  const drop = (chunk: Buffer) => {
    pieces += 1;
    bytes += chunk.length;
    if (!hasTooManyPieces(pieces, bytes)) return;
    // The default `_read` would resume the connection.
    body._read = () => {};
    body.off('data', drop).pause();
    body.socket.pause();
    // The parser has not finished with its current bytes.
    setImmediate(onTooMany);
  };
  body.on('data', drop).resume();
}

/** Lingers without parsing, because the cost of parsing grows with the number of pieces. */
function readUnparsed(socket: Socket, limits: LingerLimits): void {
  Reflect.deleteProperty(socket, 'destroySoon');
  if (socket.destroyed) return;
  let bytes = 0;
  const drop = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytesUnparsed) socket.destroy();
  };
  // Without a `data` listener the parser reads from the handle directly and also controls reading. Adding a listener
  // moves it to a listener of its own. The connection must therefore be reading before that listener is removed.
  socket.once('resume', () => socket.on('data', drop).removeAllListeners('data').on('data', drop));
  lingerBeforeClose(socket, limits);
}

/** Closes the connection when too much of an unwanted body has arrived, or nothing for too long, or after `maxMs`. */
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
