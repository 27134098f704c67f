// Loaded into a gateway before its program: writes every route that its public listener serves to the file that
// SERVED_ROUTES names, one JSON list `[method, url]` a line.
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';

subscribe('fastify.initialization', ({ fastify }) => {
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat())
      appendFileSync(process.env.SERVED_ROUTES, `${JSON.stringify([each, url])}\n`);
  });
});
