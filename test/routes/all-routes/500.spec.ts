import { beforeAll, expect, it } from '@jest/globals';
import { gatewayForFile } from '../gateways.js';
import { bearer, routerRoutes } from '../generations.js';

const gateway = gatewayForFile({ AUTH_CACHE_MS: '1' });
let caller: Awaited<ReturnType<ReturnType<typeof gateway>['caller']>>;

beforeAll(async () => {
  caller = await gateway().caller();
  // The service did not foresee this, as it is with a fault of its own.
  const dataSource = await gateway().database.openDataSource();
  await dataSource.query('ALTER TABLE workspace RENAME TO lost');
  await dataSource.destroy();
});

it.each(routerRoutes)(
  'answers its own fault on %s %s as internal_error, and keeps its words',
  async (method, path) => {
    const answer = await caller.caller.call(method, path, {
      headers: await bearer(caller.workspace.id),
      ...(method === 'POST' && { body: '{"prompt":"x"}' }),
    });
    expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([500, 'internal_error']);
    expect(answer.json()).toEqual({
      detail: expect.stringMatching(/^(?!.*(relation|workspace)).*$/),
      error_type: 'internal_error',
    });
  },
);
