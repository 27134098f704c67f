import type { Socket } from 'node:net';
import { isRouterPath } from '../answers/error.filter.js';
import { newId } from '../new-id.js';

const texts: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request line and its headers are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive.',
};

/** The path, as far as the bytes that could not be parsed begin with a request line. */
const requestLine = /^[A-Z]+ (\S+) HTTP\//;

/** Answers bytes that are not an HTTP request and closes the connection: where the next request would start is unknown. */
export function answerBrokenRequest(
  error: Error & { code?: string; rawPacket?: unknown },
  socket: Socket,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const detail = texts[error.code ?? ''] ?? 'This is not a valid HTTP request.';
  const { rawPacket } = error;
  const path = Buffer.isBuffer(rawPacket) ? requestLine.exec(rawPacket.toString('latin1'))?.[1] : undefined;
  const isRouter = path === undefined || isRouterPath(path);
  const body = JSON.stringify(
    isRouter ? { detail, error_type: 'invalid_input' } : { error: 'invalid_input', message: detail },
  );
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-service-request-id: ${newId()}`,
    ...(isRouter ? ['x-service-error-type: invalid_input'] : []),
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
