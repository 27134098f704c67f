import type { FastifyInstance } from 'fastify';

const registryPath = /^\/nodes(?:\?|$)/;
/** A browser that may keep the permission asks again after a day at the earliest. */
const keepSeconds = 24 * 3600;

/** Pages of any origin may read the registry: what it answers, its failures too, and what it is asked before. */
export function allowOtherOrigins(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    if (!registryPath.test(request.url)) return done();
    reply.header('access-control-allow-origin', '*');
    if (request.method !== 'OPTIONS') return done();
    void reply
      .code(204)
      .header('access-control-allow-methods', 'GET')
      .header('access-control-allow-headers', '*')
      .header('access-control-max-age', keepSeconds)
      .send();
  });
}
