import type { FastifyInstance } from 'fastify';

const repeated = ['request-id', 'error-type', 'cost-cents', 'model-provider'];

/** The headers of our own once more under the names that Comfy's clients read. */
export function repeatHeadersForComfy(server: FastifyInstance): void {
  server.addHook('onSend', (_request, reply, payload, done) => {
    for (const name of repeated) {
      const value = reply.getHeader(`x-service-${name}`);
      if (value !== undefined) reply.header(`x-comfy-${name}`, value);
    }
    done(null, payload);
  });
}
