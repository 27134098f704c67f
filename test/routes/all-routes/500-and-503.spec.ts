import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Answer, Caller } from '../../harness/caller.js';
import { gatewayForFile } from '../gateways.js';
import { bearer, routerRoutes } from '../generations.js';

// A gateway of its own, because its database is taken away.
const gateway = gatewayForFile({ AUTH_CACHE_MS: '1', DATABASE_STATEMENT_MS: '5000' });
const routes = routerRoutes.map(([method, path]) => ({ method, path }));

let caller: Caller;
let authorization: string;
beforeAll(async () => {
  const made = await gateway().caller();
  caller = made.caller;
  ({ authorization } = await bearer(made.workspace.id));
});

const call = ({ method, path }: (typeof routes)[number]) =>
  caller.call(method, path, {
    headers: { authorization },
    ...(method === 'POST' && { body: '{"prompt":"x"}' }),
  });

describe('while the database does not answer', () => {
  let answers: Answer[];
  beforeAll(async () => {
    const dataSource = await gateway().database.dataSource();
    answers = await dataSource.transaction(async (manager) => {
      await manager.query('LOCK TABLE workspace IN ACCESS EXCLUSIVE MODE');
      return Promise.all(routes.map(call));
    });
  });

  it.each(routes)('$method $path is service_unavailable', (route) => {
    const answer = answers[routes.indexOf(route)];
    expect([answer?.status, answer?.headers.get('x-service-error-type')]).toEqual([
      503,
      'service_unavailable',
    ]);
    expect(answer?.json()).toEqual({ detail: expect.any(String), error_type: 'service_unavailable' });
    expect(answer?.headers.has('retry-after')).toBe(false);
  });
});

describe('with an unforeseen error', () => {
  beforeAll(() => gateway().database.work.query('ALTER TABLE workspace RENAME TO lost'));

  it.each(routes)('$method $path is internal_error, without the error’s text', async (route) => {
    const answer = await call(route);
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([500, 'internal_error']);
    expect(answer.json()).toEqual({
      detail: expect.stringMatching(/^(?!.*(relation|workspace)).*$/),
      error_type: 'internal_error',
    });
  });
});
