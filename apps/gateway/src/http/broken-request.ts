import type { Socket } from 'node:net';
import { RouterError } from '#errors';
import { errorAnswer } from '../answers/error-answer.js';
import { newId } from './new-id.js';
import { lingerBeforeClose } from './lingering.js';

const texts: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The request line and its headers are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive.',
};

/** Finds the path, if the bytes that could not be parsed begin with a request line. */
const requestLine = /^[A-Z]+ (\S+) HTTP\//;

/**
 * Answers bytes that are not an HTTP request, and closes the connection because it is unknown where the next request
 * starts.
 */
export function answerBrokenRequest(
  failure: Error & { code?: string; rawPacket?: unknown },
  socket: Socket,
): void {
  if (failure.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const detail = texts[failure.code ?? ''] ?? 'This is not a valid HTTP request.';
  const { rawPacket } = failure;
  const path = Buffer.isBuffer(rawPacket) ? requestLine.exec(rawPacket.toString('latin1'))?.[1] : undefined;
  const error = new RouterError('invalid_input', detail);
  const { headers, body } = errorAnswer(error, { requestId: newId(), url: path });
  const head = [
    'HTTP/1.1 400 Bad Request',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  lingerBeforeClose(socket);
}
