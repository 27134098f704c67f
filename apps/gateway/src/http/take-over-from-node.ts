import { RouterError } from '#errors';
import type { FastifyInstance } from 'fastify';

/** Requests that Node would refuse on its own, without a request id and a body, are answered like all others. */
export function takeOverFromNode(server: FastifyInstance): void {
  // An Expect header that nobody knows is tolerated, as unknown headers are.
  server.server.on('checkExpectation', (request, response) => server.routing(request, response));

  server.addHook('onRequest', (request, _reply, done) => {
    const hostIsMissing = request.headers.host === undefined && request.raw.httpVersion === '1.1';
    done(hostIsMissing ? new RouterError('invalid_input', 'The Host header is missing.') : undefined);
  });
}
