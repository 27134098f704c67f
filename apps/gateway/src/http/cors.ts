import type { FastifyInstance, FastifyReply } from 'fastify';
import { responseHeaders } from '../reference/response-headers.js';
import { requestPath } from './request-path.js';

/** A browser that may keep the permission asks again after a day at the earliest. */
const keepSeconds = 24 * 3600;
const routerPath = /^\/(?:v2|fal)\//;
const exposed = [
  ...Object.keys(responseHeaders).flatMap((name) => [name, name.replace('X-Service-', 'X-Comfy-')]),
  'X-Fal-Request-Id',
];
const exposedHeaders = [...new Set(exposed)].join(', ');

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

/** Pages of these origins may call the v2 routes and the uploads of compatible clients; other pages get no permission. */
export function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  const allowed = new Set(origins);
  if (allowed.size === 0) return;
  server.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers;
    if (!routerPath.test(requestPath(request.url))) return done();
    // Also on answers to others: a cache must not give theirs to a page.
    reply.header('vary', 'Origin');
    if (origin === undefined || !allowed.has(origin)) return done();
    reply
      .header('access-control-allow-origin', origin)
      .header('access-control-expose-headers', exposedHeaders);
    const asked = request.headers['access-control-request-method'];
    if (request.method !== 'OPTIONS' || asked === undefined) return done();
    // Any header may be sent: those that the service does not know, it ignores.
    permit(reply, 'GET, HEAD, POST, PUT, PATCH, DELETE', request.headers['access-control-request-headers']);
  });
}

function permit(reply: FastifyReply, methods: string, headers: string | undefined): void {
  void reply
    .code(204)
    .header('access-control-allow-methods', methods)
    .header('access-control-max-age', keepSeconds)
    .headers(headers === undefined ? {} : { 'access-control-allow-headers': headers })
    .send();
}
