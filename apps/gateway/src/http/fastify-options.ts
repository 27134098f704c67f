import type { IncomingMessage, Server } from 'node:http';
import type { FastifyHttpOptions } from 'fastify';
import { newId } from './new-id.js';
import { answerBrokenRequest } from './broken-request.js';
import type { HttpSettings } from './settings.js';

/**
 * Time limit for receiving one request with its body: a file may come over a slow connection. Other bodies have less
 * time.
 */
const requestTimeoutMs = 600_000;
const headersTimeoutMs = 15_000;
/** Limit for the request line and the headers together. */
const maxHeaderBytes = 16 * 1024;

/** Options of the public listener. Every limit is explicit, because a new version could change a default. */
export function fastifyOptions(settings: HttpSettings) {
  return {
    logger: false,
    genReqId: newId,
    requestIdHeader: false,
    trustProxy: settings.TRUSTED_PROXIES.length > 0 ? settings.TRUSTED_PROXIES : false,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: settings.KEEP_ALIVE_TIMEOUT_MS,
    // Calls in flight are answered; idle connections are closed.
    forceCloseConnections: 'idle',
    // A call that arrives while the listener closes is served like any other.
    return503OnClosing: false,
    http: {
      headersTimeout: headersTimeoutMs,
      maxHeaderSize: maxHeaderBytes,
      insecureHTTPParser: false,
      // Node's own rejection would have no request id, so a hook rejects the call instead.
      requireHostHeader: false,
    },
    routerOptions: { maxParamLength: maxHeaderBytes },
    rewriteUrl: ({ url = '/' }: IncomingMessage) => routablePath(url),
    clientErrorHandler: answerBrokenRequest,
  } as const satisfies FastifyHttpOptions<Server>;
}

/**
 * Makes a path with broken percent-encoding routable, by taking its percent signs literally. It matches no route, but
 * it must be answered like every other unknown path, after the same checks.
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
