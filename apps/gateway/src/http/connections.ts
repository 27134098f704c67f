import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** For a request that is on its way when the stop begins. */
const graceMs = 1_000;

/** While the gateway stops, each answer is the last on its connection: an idle one would hold up the stop. */
export function closeAnsweredConnections(server: FastifyInstance, isStopping: () => boolean): void {
  server.addHook('onSend', (_request, reply, payload, done) => {
    if (isStopping()) void reply.header('connection', 'close');
    done(null, payload);
  });
}

/**
 * When the server closes, connections that have not carried a call yet are closed a moment later. Node closes those that
 * idle after one, but not those that browsers and load balancers open ahead: they would hold up the stop.
 */
export function closeSilentConnections(server: FastifyInstance): void {
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
    setTimeout(() => silent.forEach((socket) => socket.destroy()), graceMs).unref();
    done();
  });
}

/** Longest time in which a caller may take less of a waiting answer than `minTakenBytes`. */
const unreadMs = 30_000;
const minTakenBytes = 64 * 1024;

/**
 * Bounds how long a caller may leave its answer unread: it holds memory, and the file or the download that the answer
 * comes from.
 */
export function closeUnreadConnections(server: FastifyInstance): void {
  const taken = new Map<Socket, number>();
  server.server.on('connection', (socket: Socket) => {
    taken.set(socket, -Infinity);
    socket.once('close', () => taken.delete(socket));
  });
  const timer = setInterval(() => {
    for (const [socket, before] of taken) {
      // What is written and not taken is the caller's delay; before it, ours.
      const now = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength > 0 && now - before < minTakenBytes) socket.destroy();
      taken.set(socket, now);
    }
  }, unreadMs);
  server.addHook('onClose', async () => clearInterval(timer));
}
