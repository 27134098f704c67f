import { expect, it } from '@jest/globals';
import { type Catalog, catalogOf, type LiveCatalog, loadCatalog } from '#catalog';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../auth/caller.js';
import { ModelListsController } from './model-lists.controller.js';
import type { MeasuredModels } from './measured-models.js';
import type { ModelServers } from './model-servers.js';

const { models } = await loadCatalog();
const callerOf = (more: Partial<Caller> = {}) =>
  ({ credential: 'key:1', visible: ['*'], runnable: ['*'], ...more }) as Caller;

/** Reads lists of a catalog that a test may replace, always with the same URL. */
function lists() {
  const live: { current: Catalog } = { current: catalogOf(models) };
  const controller = new ModelListsController(
    live as LiveCatalog,
    { isServed: () => true } as unknown as ModelServers,
    { of: () => undefined } as unknown as MeasuredModels,
    { SIGNING_SECRET: ['s'.repeat(32)] },
  );
  const read = (caller: Caller) =>
    controller.search(caller, { url: '/v2/models?limit=5', query: { limit: '5' } } as FastifyRequest);
  const ids = (caller: Caller) =>
    (JSON.parse(read(caller).toString()) as { data: { id: string }[] }).data.map(({ id }) => id);
  return { live, read, ids };
}

it('reuses the page of a caller that has just read it', () => {
  const { read } = lists();
  const caller = callerOf();
  expect(read(caller)).toBe(read(caller));
});

it('shows a change of access immediately', () => {
  const { ids } = lists();
  expect(ids(callerOf()).length).toBe(5);
  const [only] = ids(callerOf());
  // A changed caller is looked up again, so it is another object with the same credential.
  expect(ids(callerOf({ runnable: [String(only)] }))).toEqual([only]);
  expect(ids(callerOf({ visible: [] }))).toEqual([]);
});

it('shows a change of the catalog immediately', () => {
  const { live, ids } = lists();
  const caller = callerOf();
  const [first] = ids(caller);
  live.current = catalogOf(models.filter(({ id }) => id !== first));
  expect(ids(caller)).not.toContain(first);
});

it('gives each caller its own page', () => {
  const { ids } = lists();
  const [one, other] = [callerOf(), callerOf({ credential: 'key:2', runnable: ['bfl/*'] })];
  for (let round = 0; round < 2; round += 1) {
    expect(ids(one).every((id) => id.startsWith('bfl/'))).toBe(false);
    expect(ids(other).every((id) => id.startsWith('bfl/'))).toBe(true);
  }
});
