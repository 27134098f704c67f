import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** For a request that is on its way when the stop begins. */
const graceMs = 1_000;

/**
 * When the server closes, connections without a call under way are closed a moment later. Node closes those that idle
 * after a call, but not one that never carried any, as browsers and balancers open them ahead: it would hold up the stop.
 */
export function closeSilentConnections(server: FastifyInstance): void {
  const callsOf = new Map<Socket, number>();
  server.server.on('connection', (socket: Socket) => {
    callsOf.set(socket, 0);
    socket.once('close', () => callsOf.delete(socket));
  });
  server.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    const count = (change: number) => {
      const calls = callsOf.get(socket);
      if (calls !== undefined) callsOf.set(socket, calls + change);
    };
    count(1);
    reply.raw.once('close', () => count(-1));
    done();
  });
  server.addHook('preClose', (done) => {
    setTimeout(() => {
      for (const [socket, calls] of callsOf) if (calls === 0) socket.destroy();
    }, graceMs).unref();
    done();
  });
}
