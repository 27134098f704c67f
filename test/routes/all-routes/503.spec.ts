import { expect, it } from '@jest/globals';
import { gatewayForFile } from '../gateways.js';
import { bearer, routerRoutes } from '../generations.js';

const gateway = gatewayForFile({ AUTH_CACHE_MS: '1', DATABASE_STATEMENT_MS: '150' });

it.each(routerRoutes)(
  'answers service_unavailable on %s %s while the database does not answer',
  async (method, path) => {
    const { caller, workspace } = await gateway().caller();
    const options = {
      headers: await bearer(workspace.id),
      ...(method === 'POST' && { body: '{"prompt":"x"}' }),
    };
    const dataSource = await gateway().database.openDataSource();
    const locking = dataSource.createQueryRunner();
    await locking.startTransaction();
    await locking.query('LOCK TABLE workspace IN ACCESS EXCLUSIVE MODE');
    try {
      const answer = await caller.call(method, path, options);
      expect([answer.status, answer.headers.get('x-service-error-type')]).toEqual([
        503,
        'service_unavailable',
      ]);
      expect(answer.json()).toEqual({ detail: expect.any(String), error_type: 'service_unavailable' });
      expect(answer.headers.has('retry-after')).toBe(false);
    } finally {
      await locking.rollbackTransaction();
      await locking.release();
      await dataSource.destroy();
    }
  },
);
