import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';

/** The answer of a route, whose body is read as it is needed; what is not read is discarded. */
export interface RouteAnswer {
  status: number;
  headers: Record<string, string | number | string[] | undefined>;
  /** The body, unless it is larger than `maxReadBytes`. */
  read: () => Promise<Buffer | undefined>;
  discard: () => void;
}

/** Nothing that a tool shows is larger. */
export const maxReadBytes = 1024 * 1024;

/** Calls a route of this gateway; `body` is JSON. */
export type OwnRoutes = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  options?: { body?: Buffer; idempotencyKey?: string },
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
