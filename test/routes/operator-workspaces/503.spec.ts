import { expect, it } from '@jest/globals';
import { gatewayForFile } from '../gateways.js';

// A gateway of its own, because its table is locked.
const gateway = gatewayForFile({ DATABASE_STATEMENT_MS: '1000' });

it('reads and changes answer 503 while the database does not answer', async () => {
  const { caller, workspace } = await gateway().caller({}, ['operate', 'manage']);
  const path = `/v2/operator/workspaces/${workspace.id}`;
  const calls = [
    () => caller.call('GET', path),
    () => caller.call('PATCH', path, { body: '{"markup":2}' }),
    () => caller.call('GET', '/v2/webhooks/secret'),
    () => caller.call('POST', '/v2/webhooks/secret'),
  ];
  // This call puts the key into the cache.
  expect((await caller.call('GET', path)).status).toBe(200);
  const dataSource = await gateway().database.dataSource();
  const answers = await dataSource.transaction(async (manager) => {
    await manager.query('LOCK TABLE workspace IN ACCESS EXCLUSIVE MODE');
    return Promise.all(calls.map((call) => call()));
  });
  expect(answers.map(({ status, bucket }) => [status, bucket])).toEqual(
    calls.map(() => [503, 'service_unavailable']),
  );
});
