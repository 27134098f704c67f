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
