import type { IncomingMessage, Server } from 'node:http';
import type { FastifyHttpOptions, FastifyInstance } from 'fastify';
import { newId } from './new-id.js';
import { answerBrokenRequest } from './broken-request.js';
import type { HttpSettings } from './settings.js';

/** For receiving one request, its body included: a file may come over a slow line. Other bodies have less time. */
const requestTimeoutMs = 600_000;
const headersTimeoutMs = 15_000;
/** Of the request line and the headers together. */
const maxHeaderBytes = 16 * 1024;

type UrlRewrite = (request: IncomingMessage) => string | undefined;

const urlRewrites = new WeakMap<FastifyInstance, UrlRewrite>();

/** Lets a surface route requests of this server by another URL; undefined leaves a request its own. */
export const rewriteUrls = (server: FastifyInstance, rewrite: UrlRewrite) => urlRewrites.set(server, rewrite);

/** The limits of the public listener. Nothing here is left to a default that a new version could change. */
export function fastifyOptions(settings: HttpSettings) {
  return {
    logger: false,
    genReqId: newId,
    requestIdHeader: false,
    trustProxy: settings.TRUSTED_PROXIES.length > 0 ? settings.TRUSTED_PROXIES : false,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: settings.KEEP_ALIVE_TIMEOUT_MS,
    // Calls that are under way are answered; connections that only idle are closed.
    forceCloseConnections: 'idle',
    // A call that arrives while the listener closes is served like any other.
    return503OnClosing: false,
    http: {
      headersTimeout: headersTimeoutMs,
      maxHeaderSize: maxHeaderBytes,
      insecureHTTPParser: false,
      // Node's own refusal would carry no request id; the call is refused by a hook instead.
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: maxHeaderBytes },
    rewriteUrl: routedUrl,
    clientErrorHandler: answerBrokenRequest,
  } as const satisfies FastifyHttpOptions<Server>;
}

function routedUrl(this: FastifyInstance, request: IncomingMessage & { originalUrl?: string }): string {
  const url = urlRewrites.get(this)?.(request);
  if (url !== undefined) request.originalUrl = url;
  return routablePath(url ?? request.url ?? '/');
}

/**
 * A path with broken percent-encoding matches no route, but it must be answered like every other path without a
 * route, after the same checks. Its percent signs are taken literally, so that it can be routed.
 */
export function routablePath(url: string): string {
  if (!url.includes('%')) return url;
  const [path = '', ...query] = url.split('?');
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}
