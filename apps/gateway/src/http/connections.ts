import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Time for a request that was already sent when the stop began. */
const graceMs = 1_000;

/** While the gateway stops, closes each connection after its answer, because an idle one would delay the stop. */
export function closeAnsweredConnections(server: FastifyInstance, isStopping: () => boolean): void {
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (isStopping()) void reply.header('connection', 'close');
    done(null, payload);
  });
}

/**
 * Closes idle connections while the server closes. Node closes those that are idle when it starts to close, but not
 * those whose answer was on its way, nor those that browsers and load balancers open in advance. Both would delay the
 * stop.
 */
export function closeIdleConnections(server: FastifyInstance): void {
  const silent = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  server.addHook('onRequest', (request, _reply, done) => {
    silent.delete(request.raw.socket);
    done();
  });
  server.addHook('preClose', (done) => {
    setInterval(() => {
      silent.forEach((socket) => socket.destroy());
      server.server.closeIdleConnections();
    }, graceMs).unref();
    done();
  });
}

/** A caller must take at least `minTakenBytes` of a waiting answer within this time. */
const unreadMs = 30_000;
const minTakenBytes = 64 * 1024;

/**
 * Closes the connection of a caller that leaves its answer unread, because the answer holds memory, and the file or
 * download that it comes from.
 */
export function closeUnreadConnections(server: FastifyInstance): void {
  const taken = new Map<Socket, number>();
  server.server.on('connection', (socket: Socket) => {
    taken.set(socket, -Infinity);
    socket.once('close', () => taken.delete(socket));
  });
  const timer = setInterval(() => {
    for (const [socket, before] of taken) {
      // Bytes written but not taken are the caller's delay; bytes not yet written are ours.
      const now = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength > 0 && now - before < minTakenBytes) socket.destroy();
      taken.set(socket, now);
    }
  }, unreadMs);
  server.addHook('onClose', async () => clearInterval(timer));
}
