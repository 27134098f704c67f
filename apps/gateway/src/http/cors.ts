import type { FastifyInstance, FastifyReply } from 'fastify';
import { responseHeaders } from './response-headers.js';
import { requestPath } from '../answers/request-path.js';

/** A browser that may keep the permission asks again after a day at the earliest. */
const keepSeconds = 24 * 3600;
const routerPath = /^\/v2\//;
const exposing = 'access-control-expose-headers';
const exposedHeaders = Object.keys(responseHeaders).join(', ');

/** Pages of these origins may call the v2 routes; other pages get no permission. */
export function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  const allowed = new Set(origins);
  if (allowed.size === 0) return;
  server.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers;
    if (!routerPath.test(requestPath(request.url))) return done();
    // Also on answers to others: a cache must not give theirs to a page.
    reply.header('vary', 'Origin');
    if (origin === undefined || !allowed.has(origin)) return done();
    reply.header('access-control-allow-origin', origin).header(exposing, exposedHeaders);
    const asked = request.headers['access-control-request-method'];
    if (request.method !== 'OPTIONS' || asked === undefined) return done();
    // Any header may be sent: those that the service does not know, it ignores.
    permit(reply, 'GET, HEAD, POST, PUT, PATCH, DELETE', request.headers['access-control-request-headers']);
  });
}

/** Lets pages that may read the answer read these headers of it too. */
export function exposeToPages(reply: FastifyReply, names: string): void {
  const exposed = reply.getHeader(exposing);
  if (typeof exposed === 'string') void reply.header(exposing, `${exposed}, ${names}`);
}

/** Answers a browser's question before a call. */
export function permit(reply: FastifyReply, methods: string, headers: string | undefined): void {
  void reply
    .code(204)
    .header('access-control-allow-methods', methods)
    .header('access-control-max-age', keepSeconds)
    .headers(headers === undefined ? {} : { 'access-control-allow-headers': headers })
    .send();
}
