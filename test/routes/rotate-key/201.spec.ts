import { expect, it } from '@jest/globals';
import { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();

it('creates a successor, and the former key works as long as the caller says', async () => {
  const { caller, keyId } = await gateway().caller({}, ['manage', 'catalog']);
  const made = (body: object) => caller.call('POST', '/v2/keys', { body: JSON.stringify(body) });
  const tags = { team: 'web' };
  const former = (await made({ name: 'web app', scopes: ['catalog'], tags })).json();
  const rotate = async (id: string, query = '') => {
    const answer = await caller.call('POST', `/v2/keys/${id}/rotate${query}`);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
    return answer.json();
  };
  const next = await rotate(String(former['id']));
  expect(next).toMatchObject({
    name: 'web app',
    scopes: ['catalog'],
    tags,
    made_by: keyId,
    first_id: former['id'],
  });
  const dayMs = 24 * 3_600_000;
  expect(Math.abs(Date.parse(String(next['former_ends_at'])) - Date.now() - dayMs)).toBeLessThan(600_000);
  const status = async (key: unknown) =>
    (await new Caller(() => [gateway().url], String(key)).call('GET', '/v2/models')).status;
  expect(await Promise.all([former['key'], next['key']].map(status))).toEqual([200, 200]);
  const last = await rotate(String(next['id']), '?keep_hours=0');
  expect(await status(last['key'])).toBe(200);
  const { data } = (await caller.call('GET', '/v2/keys')).json();
  expect(data).toMatchObject([
    { id: last['id'], state: 'live', first_id: former['id'] },
    { id: next['id'], state: 'revoked', first_id: former['id'], rotated_to: last['id'] },
    { id: former['id'], state: 'live', rotated_to: next['id'], expires_at: next['former_ends_at'] },
    { id: keyId },
  ]);
});
