import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { accountKeys } from './account-keys.js';
import { endNow, entryOf } from './ledger/generation.js';
import { peaksOf } from './ledger/peaks.js';
import type { Simulation } from './simulation.js';

const ledgerFilter = z.object({ provider: z.string().optional(), tag: z.string().optional() });
const requestFilter = z.object({
  listener: z.string().optional(),
  method: z.string().optional(),
  path: z.string().optional(),
});
const advance = z.object({ advanceMs: z.number().int() });
const account = z.object({
  account: z.string(),
  answer: z
    .object({ status: z.literal([401, 402, 429]), retryAfterSeconds: z.number().optional() })
    .nullable(),
});
const tagged = z.object({ tag: z.string() });

/** Routes for tests: they read what providers received, and move the providers' clock. */
export function addAdminRoutes(app: FastifyInstance, simulation: Simulation): void {
  app.get('/keys', () => accountKeys(simulation.addresses.api));

  app.get('/ledger', (request) => {
    const nowMs = simulation.clock.now();
    const entries = simulation.ledger
      .list(ledgerFilter.parse(request.query))
      .map((each) => entryOf(each, nowMs));
    return { nowMs, entries };
  });

  app.get('/peaks', (request) => {
    const { tag } = tagged.parse(request.query);
    const generations = simulation.ledger.list({ tag });
    const peaks = peaksOf(generations, simulation.clock.now());
    return { tag, ...peaks, startOrder: generations.map((each) => each.id) };
  });

  app.get('/requests', (request) => simulation.requests.list(requestFilter.parse(request.query)));

  app.post('/reset', () => {
    simulation.ledger.reset();
    simulation.requests.reset();
    simulation.attempts.clear();
    simulation.accounts.clear();
    simulation.clock.reset();
    return { status: 'ok' };
  });

  app.post('/clock', (request) => {
    simulation.clock.advance(advance.parse(request.body).advanceMs);
    return { nowMs: simulation.clock.now() };
  });

  // Answers every call with a key of the account like this, until it is null.
  app.post('/accounts', (request) => {
    const { account: name, answer } = account.parse(request.body);
    if (answer === null) simulation.accounts.delete(name);
    else simulation.accounts.set(name, answer);
    return { status: 'ok' };
  });

  // Ends the generations accepted under the tag so far. Those of other tests continue.
  app.post('/finish', (request) => {
    const nowMs = simulation.clock.now();
    const generations = simulation.ledger.list({ tag: tagged.parse(request.body).tag });
    for (const each of generations) endNow(each, nowMs);
    return { finished: generations.length };
  });
}
