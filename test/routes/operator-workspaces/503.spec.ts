import { expect, it } from '@jest/globals';
import { gatewayForFile } from '../gateways.js';

// Its table is locked, so nobody else can use it.
const gateway = gatewayForFile({ DATABASE_STATEMENT_MS: '1000' });

it('is the answer while the database does not answer, to changes too', async () => {
  const { caller, workspace } = await gateway().caller({}, ['operate', 'manage']);
  const path = `/v2/operator/workspaces/${workspace.id}`;
  const calls = [
    () => caller.call('GET', path),
    () => caller.call('PATCH', path, { body: '{"markup":2}' }),
    () => caller.call('GET', '/v2/webhooks/secret'),
    () => caller.call('POST', '/v2/webhooks/secret'),
  ];
  // From now on its key is known.
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
