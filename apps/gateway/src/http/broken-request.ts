import type { Socket } from 'node:net';
import { v7 } from 'uuid';

const texts: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request line and its headers are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive.',
};

/** Answers bytes that are not an HTTP request and closes the connection: where the next request would start is unknown. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const detail = texts[error.code ?? ''] ?? 'This is not a valid HTTP request.';
  const body = JSON.stringify({ detail, error_type: 'invalid_input' });
  const head = [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-service-request-id: ${v7()}`,
    'x-service-error-type: invalid_input',
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
