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
    done(hostProblem(request.raw));
  });
  server.addHook('onSend', (request, reply, payload, done) => {
    // The caller may still send the body, so the connection cannot be reused.
    if (waiting.has(request.raw)) void reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Node drops all Host lines but the first, while a proxy before it may have gone by another one. */
function hostProblem({ rawHeaders, httpVersion }: IncomingMessage): RouterError | undefined {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1) return malformed('The Host header is given more than once.');
  return hosts === 0 && httpVersion === '1.1' ? malformed('The Host header is missing.') : undefined;
}

const malformed = (detail: string) => new RouterError('invalid_input', detail);

/** Asks a waiting caller to send its body. Call this once the headers have passed all checks. */
export function sendContinue(request: IncomingMessage): void {
  waiting.get(request)?.writeContinue();
  waiting.delete(request);
}
