import { isOriginOf } from '#schemas';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { responseHeaders } from './response-headers.js';
import { requestPath } from '../answers/request-path.js';

/** How long browsers may cache the answer to a preflight request. */
const keepSeconds = 24 * 3600;
const routerPath = /^\/v2\//;
const exposing = 'access-control-expose-headers';
const exposedHeaders = Object.keys(responseHeaders).join(', ');

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Pages of the allowed origins may call this route, as they may call those of v2. */
    openToPages?: boolean;
  }
}

/**
 * Lets pages of these origins call the v2 routes, and those that are open to pages. `*` as the port of an origin matches
 * any port.
 */
export function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const isAllowed = (origin: string) => URL.canParse(origin) && isOriginOf(new URL(origin), origins);
  server.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers;
    if (!routerPath.test(requestPath(request.url)) && !request.routeOptions.config?.openToPages)
      return done();
    // On every answer, so that a cache does not give a page an answer that was meant for another origin.
    reply.header('vary', 'Origin');
    if (origin === undefined || !isAllowed(origin)) return done();
    reply.header('access-control-allow-origin', origin).header(exposing, exposedHeaders);
    const requestedMethod = request.headers['access-control-request-method'];
    if (request.method !== 'OPTIONS' || requestedMethod === undefined) return done();
    // Any header may be sent, because the service ignores unknown ones.
    permit(reply, 'GET, HEAD, POST, PUT, PATCH, DELETE', request.headers['access-control-request-headers']);
  });
}

/** Lets pages that may read the answer also read these headers. */
export function exposeToPages(reply: FastifyReply, names: string): void {
  const exposed = reply.getHeader(exposing);
  if (typeof exposed === 'string') void reply.header(exposing, `${exposed}, ${names}`);
}

/** Answers a preflight request. */
export function permit(reply: FastifyReply, methods: string, headers: string | undefined): void {
  void reply
    .code(204)
    .header('access-control-allow-methods', methods)
    .header('access-control-max-age', keepSeconds)
    .headers(headers === undefined ? {} : { 'access-control-allow-headers': headers })
    .send();
}
