import type { IncomingMessage, ServerResponse } from 'node:http';
import { RouterError } from '#errors';
import type { FastifyInstance } from 'fastify';

/** Requests whose callers wait for permission to send the body (`Expect: 100-continue`). */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Routes requests that Node would otherwise answer by itself, so that they are answered like all others. */
export function takeOverFromNode(server: FastifyInstance): void {
  server.server.on('checkContinue', (request, response) => {
    waiting.set(request, response);
    server.routing(request, response);
  });
  // An unknown Expect header is ignored, like other unknown headers.
  server.server.on('checkExpectation', (request, response) => server.routing(request, response));

  server.addHook('onRequest', (request, _reply, done) => {
    const hostIsMissing = request.headers.host === undefined && request.raw.httpVersion === '1.1';
    done(hostIsMissing ? new RouterError('invalid_input', 'The Host header is missing.') : undefined);
  });
  server.addHook('onSend', (request, reply, payload, done) => {
    // The caller may still send the body, so the connection cannot be reused.
    if (waiting.has(request.raw)) void reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Asks a waiting caller to send its body. Call this once the headers have passed all checks. */
export function sendContinue(request: IncomingMessage): void {
  waiting.get(request)?.writeContinue();
  waiting.delete(request);
}
