import type { FastifyInstance } from 'fastify';
import { exposeToPages } from '../http/cors.js';
import type { HookVendor } from './vendor.js';

const names = ['Request-Id', 'Run-Id', 'Error-Type', 'Cost-Cents', 'Model-Provider'];
const exposed = names.map((name) => `X-Comfy-${name}`).join(', ');

export const comfy: HookVendor = {
  name: 'comfy',
  serves: 'its header names',
  addHooks: repeatHeaders,
};

/** Repeats our own headers under the names that Comfy's clients read. */
function repeatHeaders(server: FastifyInstance): void {
  server.addHook('onSend', (_request, reply, payload, done) => {
    for (const name of names) {
      const value = reply.getHeader(`x-service-${name}`);
      if (value !== undefined) reply.header(`x-comfy-${name}`, value);
    }
    exposeToPages(reply, exposed);
    done(null, payload);
  });
}
