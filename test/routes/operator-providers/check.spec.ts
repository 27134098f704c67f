import { expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const check = async (provider: string) => {
  const { caller } = await gateway().caller({}, ['operate']);
  return caller.call('POST', `/v2/operator/providers/${provider}/check`);
};

it('200: no worker, no key, or no free call', async () => {
  // Providers that no other file here uses, because all files share one database.
  expect((await check('meshy')).json()).toEqual({ provider: 'meshy', result: 'no_worker' });
  expect((await check('krea')).json()).toEqual({ provider: 'krea', result: 'no_free_check' });
  const id = v7();
  await gateway().database.work.query(
    `INSERT INTO process (id, app, host, pid, catalog_revision, providers, slots)
      VALUES ($1, 'worker', 'host', 1, 'one', '{"meshy": false}', 1)`,
    [id],
  );
  try {
    expect((await check('meshy')).json()).toEqual({ provider: 'meshy', result: 'no_key' });
  } finally {
    await gateway().database.work.query('DELETE FROM process WHERE id = $1', [id]);
  }
});

it('404: no such provider', async () => {
  const answer = await check('mesy');
  expect([answer.status, answer.bucket]).toEqual([404, 'invalid_input']);
  expect(answer.json()['detail']).toContain('meshy');
});

it('403: a key without the scope operate', async () => {
  const { caller } = await gateway().caller();
  expect((await caller.call('POST', '/v2/operator/providers/meshy/check')).status).toBe(403);
});
