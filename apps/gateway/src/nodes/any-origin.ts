import type { FastifyInstance } from 'fastify';
import { requestPath } from '../answers/request-path.js';
import { permit } from '../http/cors.js';

/** Pages of any origin may read the registry: what it answers, its failures too, and what it is asked before. */
export function allowRegistryReaders(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    // What no route takes may be meant for it as well: another method, or the question before a call.
    if ((request.routeOptions.url ?? requestPath(request.url)) !== '/nodes') return done();
    reply.header('access-control-allow-origin', '*');
    if (request.method !== 'OPTIONS') return done();
    permit(reply, 'GET', '*');
  });
}
