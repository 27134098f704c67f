import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Desk } from './desk.js';
import { endNow, entryOf } from './ledger/generation.js';
import { peaksByTag, peaksOf } from './ledger/peaks.js';
import type { Partner } from './partner.js';

const which = z.object({ provider: z.string().optional(), tag: z.string().optional() });
const whichRequests = z.object({
  listener: z.string().optional(),
  method: z.string().optional(),
  path: z.string().optional(),
});
const advance = z.object({ advanceMs: z.number().int() });
const tagged = z.object({ tag: z.string() });

/** The routes by which a test reads what partners saw, and plans what they do next. */
export function addAdminRoutes(app: FastifyInstance, desk: Desk, partners: readonly Partner[]): void {
  const scenario = z.object({
    provider: z.enum(partners.map((partner) => partner.name)),
    tokens: z.array(z.string()).min(1),
    times: z.number().int().min(1).default(1),
  });

  app.get('/health', () => ({
    status: 'ok',
    partners: partners.map((partner) => partner.name),
    ...desk.addresses,
    accepted: desk.ledger.size,
  }));

  // Account keys as the partners would give them out, each in its own form.
  app.get('/keys', () =>
    Object.fromEntries(
      partners.map(({ name, issueKey }) => [
        name,
        issueKey?.(`${desk.addresses.api}/${name}`) ?? `simulated-key-${name}`,
      ]),
    ),
  );

  app.get('/ledger', (request) => {
    const nowMs = desk.clock.now();
    const entries = desk.ledger.list(which.parse(request.query)).map((each) => entryOf(each, nowMs));
    return { nowMs, entries };
  });

  app.get('/peaks', (request) => {
    const nowMs = desk.clock.now();
    const { provider, tag } = which.parse(request.query);
    const generations = desk.ledger.list({ provider, tag });
    const facts = { ...peaksOf(generations, nowMs), startOrder: generations.map((each) => each.id) };
    return tag === undefined ? { ...facts, tags: peaksByTag(generations, nowMs) } : { tag, ...facts };
  });

  app.get('/requests', (request) => desk.requests.list(whichRequests.parse(request.query)));

  app.post('/reset', () => {
    desk.ledger.reset();
    desk.requests.reset();
    desk.scenarios.reset();
    desk.attempts.clear();
    desk.clock.reset();
    return { status: 'ok' };
  });

  app.post('/clock', (request) => {
    desk.clock.advance(advance.parse(request.body).advanceMs);
    return { nowMs: desk.clock.now() };
  });

  // Ends what was accepted under the tag by now; other tests' generations go on.
  app.post('/finish', (request) => {
    const nowMs = desk.clock.now();
    const generations = desk.ledger.list({ tag: tagged.parse(request.body).tag });
    for (const each of generations) endNow(each, nowMs);
    return { finished: generations.length };
  });

  app.post('/scenarios', (request, reply) => {
    const { provider, tokens, times } = scenario.parse(request.body);
    const problems = desk.scenarios.queue(provider, tokens, times);
    return problems.length > 0 ? reply.code(400).send({ problems }) : { status: 'ok' };
  });

  app.setErrorHandler((error, _request, reply) =>
    error instanceof z.ZodError
      ? reply
          .code(400)
          .send({ problems: error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) })
      : reply.send(error),
  );
}
