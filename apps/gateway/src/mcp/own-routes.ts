import type { FastifyRequest } from 'fastify';

export interface RouteAnswer {
  status: number;
  headers: Record<string, string | number | string[] | undefined>;
  bytes: Buffer;
}

/** Calls a route of this gateway; `body` is JSON. */
export type OwnRoutes = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  options?: { body?: string; idempotencyKey?: string },
) => Promise<RouteAnswer>;

/** Of the request itself, not of its caller. */
const ownHeaders = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'idempotency-key',
  'transfer-encoding',
]);

/**
 * The gateway's own routes, in this process, as the caller of a request: a tool is refused what its caller would be
 * refused, is admitted by the same admission, and is in the same records.
 */
export function ownRoutes(request: FastifyRequest): OwnRoutes {
  const callers = Object.entries(request.headers).filter(
    ([name, value]) => value !== undefined && !ownHeaders.has(name),
  );
  return async (method, path, { body, idempotencyKey } = {}) => {
    const answer = await request.server.inject({
      method,
      url: path,
      headers: {
        ...Object.fromEntries(callers),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { payload: body }),
      ...(request.socket.remoteAddress !== undefined && { remoteAddress: request.socket.remoteAddress }),
    });
    return { status: answer.statusCode, headers: answer.headers, bytes: answer.rawPayload };
  };
}
