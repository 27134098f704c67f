import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { bearerOf, signIn } from './signing-in.js';

const gateway = sharedGateway();

async function link(query = '', scopes = ['catalog', 'manage', 'operate']) {
  const { caller, keyId } = await gateway().caller({}, scopes);
  const made = await caller.call('POST', `/v2/sign-in/links${query}`);
  expect(made.status).toBe(201);
  return { caller, keyId, ...(made.json() as { id: string; code: string; expires_at: string }) };
}

it('a link’s code is exchanged once, for a session that cannot grant access', async () => {
  const { caller, keyId, id, code } = await link();
  const both = await Promise.all([signIn(gateway(), code), signIn(gateway(), code)]);
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
  const session = both.find(({ status }) => status === 200)?.body;
  expect(session).toMatchObject({ id, kind: 'session', scopes: ['catalog'], made_by: keyId });
  const models = await fetch(`${gateway().url}/v2/models`, { headers: bearerOf(String(session?.['key'])) });
  expect(models.status).toBe(200);
  const { key: _key, ...listed } = session ?? {};
  expect((await caller.call('GET', '/v2/keys?kind=session')).json()['data']).toEqual([listed]);
});

it('a session has `manage` only if its link asks for it, and never `operate`', async () => {
  const { code } = await link('?scopes=catalog,manage');
  expect((await signIn(gateway(), code)).body).toMatchObject({ scopes: ['catalog', 'manage'] });
});

it('a code works for nothing else, and anything else is rejected', async () => {
  const { caller, code } = await link();
  const models = await fetch(`${gateway().url}/v2/models`, { headers: bearerOf(code) });
  expect(models.status).toBe(401);
  expect((await signIn(gateway(), caller.key)).status).toBe(401);
  expect((await signIn(gateway(), 'rk_live_nobody')).status).toBe(401);
});

it('a revoked code is rejected', async () => {
  const { caller, id, code } = await link();
  expect((await caller.call('GET', '/v2/keys?kind=code')).json()['data']).toMatchObject([
    { id, kind: 'code', state: 'live' },
  ]);
  expect((await caller.call('DELETE', `/v2/keys/${id}`)).status).toBe(204);
  expect((await signIn(gateway(), code)).status).toBe(401);
});
