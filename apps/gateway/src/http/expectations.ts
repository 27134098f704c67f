import type { IncomingMessage, ServerResponse } from 'node:http';
import { RouterError } from '#errors';
import type { FastifyInstance } from 'fastify';

/** Requests whose callers send the body only when they are told to (`Expect: 100-continue`). */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/** Requests that Node would answer or refuse on its own, before a route has seen them, are answered like all others. */
export function takeOverFromNode(server: FastifyInstance): void {
  server.server.on('checkContinue', (request, response) => {
    waiting.set(request, response);
    server.routing(request, response);
  });
  // An unknown Expect header is tolerated, as unknown headers are.
  server.server.on('checkExpectation', (request, response) => server.routing(request, response));

  server.addHook('onRequest', (request, _reply, done) => {
    const hostIsMissing = request.headers.host === undefined && request.raw.httpVersion === '1.1';
    done(hostIsMissing ? new RouterError('invalid_input', 'The Host header is missing.') : undefined);
  });
  server.addHook('onSend', (request, reply, payload, done) => {
    // Whether the body still comes is the caller's choice, so nobody knows where its next request would begin.
    if (waiting.has(request.raw)) void reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Lets the body come, if its caller waits to be told. To be called when nothing speaks against it. */
export function sendContinue(request: IncomingMessage): void {
  waiting.get(request)?.writeContinue();
  waiting.delete(request);
}
