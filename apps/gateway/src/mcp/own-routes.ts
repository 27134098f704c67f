import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';

/** The answer of a route. Its body must be either read or discarded. */
export interface RouteAnswer {
  status: number;
  headers: Record<string, string | number | string[] | undefined>;
  /** The body, unless it is larger than `maxReadBytes`. */
  read: () => Promise<Buffer | undefined>;
  discard: () => void;
}

/** The largest body that a tool shows. */
export const maxReadBytes = 1024 * 1024;

/** Calls a route of this gateway; `body` is JSON unless `contentType` says otherwise. */
export type OwnRoutes = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  options?: { body?: Buffer; contentType?: string; idempotencyKey?: string },
) => Promise<RouteAnswer>;

/** Headers that describe the request itself, not its caller. */
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
 * Calls the gateway's own routes, in this process, as the caller of a request. So tools have the caller's
 * permissions, pass the same admission and appear in the same records.
 */
export function ownRoutes(request: FastifyRequest): OwnRoutes {
  const callers = Object.entries(request.headers).filter(
    ([name, value]) => value !== undefined && !ownHeaders.has(name),
  );
  return async (method, path, { body, contentType = 'application/json', idempotencyKey } = {}) => {
    const answer = await request.server.inject({
      method,
      url: path,
      headers: {
        ...Object.fromEntries(callers),
        ...(body !== undefined && { 'content-type': contentType }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { payload: body }),
      ...(request.socket.remoteAddress !== undefined && { remoteAddress: request.socket.remoteAddress }),
      payloadAsStream: true,
    });
    const discard = () => void answer.raw.res.destroy();
    return {
      status: answer.statusCode,
      headers: answer.headers,
      read: () => bytesOf(answer.stream(), discard),
      discard,
    };
  };
}

async function bytesOf(body: Readable, discard: () => void): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxReadBytes) {
      discard();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
