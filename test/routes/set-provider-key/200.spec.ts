import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const put = (caller: Awaited<ReturnType<ReturnType<typeof gateway>['caller']>>['caller'], key: string) =>
  caller.call('PUT', '/v2/provider-keys/bfl', { body: JSON.stringify({ key }) });

it('a key is set, shown without its text, replaced and deleted, and each change is on record', async () => {
  const { caller, workspace } = await gateway().caller({}, ['provider_keys', 'operate']);
  const set = await put(caller, 'a-key-of-the-workspace');
  expect([set.status, set.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const shown = (await caller.call('GET', '/v2/provider-keys/bfl')).json();
  expect(shown).toEqual(set.json());
  expect(shown).toEqual({
    provider: 'bfl',
    last_characters: 'pace',
    set_at: expect.any(String),
    set_by: expect.stringMatching(/^key:[0-9a-f-]{36}$/),
    state: 'unused',
  });
  // The last characters of a short key would be most of it.
  expect((await put(caller, 'short-key')).json()).not.toHaveProperty('last_characters');
  expect((await caller.call('GET', '/v2/provider-keys')).json()['data']).toHaveLength(1);
  expect((await caller.call('DELETE', '/v2/provider-keys/bfl')).status).toBe(204);
  expect((await caller.call('GET', '/v2/provider-keys')).json()).toEqual({ data: [] });
  const audit = await caller.call('GET', `/v2/operator/audit?workspace=${workspace.name}`);
  const actions = (audit.json()['data'] as { action: string; subject: string }[]).flatMap(
    ({ action, subject }) => (action === 'key.create' ? [] : `${action} ${subject}`),
  );
  expect(actions).toEqual(['provider_key.delete bfl', 'provider_key.set bfl', 'provider_key.set bfl']);
});
