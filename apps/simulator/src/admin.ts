import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { endNow, entryOf } from './ledger/generation.js';
import { peaksByTag, peaksOf } from './ledger/peaks.js';
import type { Partner } from './partner.js';
import type { Simulation } from './simulation.js';

const which = z.object({ provider: z.string().optional(), tag: z.string().optional() });
const whichRequests = z.object({
  listener: z.string().optional(),
  method: z.string().optional(),
  path: z.string().optional(),
});
const advance = z.object({ advanceMs: z.number().int() });
const tagged = z.object({ tag: z.string() });

/** The routes by which a test reads what partners saw, and moves their clock. */
export function addAdminRoutes(
  app: FastifyInstance,
  simulation: Simulation,
  partners: readonly Partner[],
): void {
  app.get('/health', () => ({
    status: 'ok',
    partners: partners.map((partner) => partner.name),
    ...simulation.addresses,
    accepted: simulation.ledger.size,
  }));

  // Account keys as the partners would give them out, each in its own form.
  app.get('/keys', () =>
    Object.fromEntries(
      partners.map(({ name, issueKey }) => [
        name,
        issueKey?.(`${simulation.addresses.api}/${name}`) ?? `simulated-key-${name}`,
      ]),
    ),
  );

  app.get('/ledger', (request) => {
    const nowMs = simulation.clock.now();
    const entries = simulation.ledger.list(which.parse(request.query)).map((each) => entryOf(each, nowMs));
    return { nowMs, entries };
  });

  app.get('/peaks', (request) => {
    const nowMs = simulation.clock.now();
    const { provider, tag } = which.parse(request.query);
    const generations = simulation.ledger.list({ provider, tag });
    const facts = { ...peaksOf(generations, nowMs), startOrder: generations.map((each) => each.id) };
    return tag === undefined ? { ...facts, tags: peaksByTag(generations, nowMs) } : { tag, ...facts };
  });

  app.get('/requests', (request) => simulation.requests.list(whichRequests.parse(request.query)));

  app.post('/reset', () => {
    simulation.ledger.reset();
    simulation.requests.reset();
    simulation.attempts.clear();
    simulation.clock.reset();
    return { status: 'ok' };
  });

  app.post('/clock', (request) => {
    simulation.clock.advance(advance.parse(request.body).advanceMs);
    return { nowMs: simulation.clock.now() };
  });

  // Ends what was accepted under the tag by now; other tests' generations go on.
  app.post('/finish', (request) => {
    const nowMs = simulation.clock.now();
    const generations = simulation.ledger.list({ tag: tagged.parse(request.body).tag });
    for (const each of generations) endNow(each, nowMs);
    return { finished: generations.length };
  });

  app.setErrorHandler((error, _request, reply) =>
    error instanceof z.ZodError
      ? reply
          .code(400)
          .send({ problems: error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) })
      : reply.send(error),
  );
}
