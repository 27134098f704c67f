import type { FastifyInstance } from 'fastify';
import { exposeToPages } from '../http/cors.js';

const names = ['Request-Id', 'Run-Id', 'Error-Type', 'Cost-Cents', 'Model-Provider'];
const exposed = names.map((name) => `X-Comfy-${name}`).join(', ');

/** Repeats our own headers under the names that Comfy's clients read. */
export function repeatHeadersForComfy(server: FastifyInstance): void {
  server.addHook('onSend', (_request, reply, payload, done) => {
    for (const name of names) {
      const value = reply.getHeader(`x-service-${name}`);
      if (value !== undefined) reply.header(`x-comfy-${name}`, value);
    }
    exposeToPages(reply, exposed);
    done(null, payload);
  });
}
