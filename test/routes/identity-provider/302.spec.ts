import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { IdentityServer } from '../../harness/identity-server.js';
import { gatewayForFile, sharedGateway } from '../gateways.js';
import { bearer } from '../generations.js';
import { signIn } from '../sign-in/signing-in.js';

const identity = await IdentityServer.start();
afterAll(() => identity.stop());
const gateway = gatewayForFile({
  ...identity.settings,
  OIDC_VIEWER_GROUP: 'everyone',
  OIDC_BILLING_GROUP: 'cn=finance,ou=groups',
  OIDC_DEVELOPER_GROUP: 'engineers',
  OIDC_OPERATOR_GROUP: 'admins',
});
const plain = sharedGateway();

let workspaceId: string;
beforeEach(async () => {
  workspaceId = (await gateway().caller()).workspace.id;
});

const get = (path: string, cookie = '') =>
  fetch(new URL(path, gateway().url), { redirect: 'manual', headers: { cookie } });

async function begin(): Promise<{ url: string; cookie: string }> {
  const answer = await get('/v2/sign-in/begin');
  const cookie = answer.headers.get('set-cookie') ?? '';
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'no-store']);
  expect(cookie).toMatch(/^sign-in=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
  return { url: answer.headers.get('location') ?? '', cookie: cookie.split(';', 1)[0] ?? '' };
}

/** Signs a person with these claims in. Returns the fragment with which the console opens. */
async function fragmentOf(login: string, claims: Record<string, unknown>): Promise<URLSearchParams> {
  identity.people.set(login, claims);
  const { url, cookie } = await begin();
  return finish(await identity.signIn(url, login), cookie);
}

async function finish(callback: string, cookie: string): Promise<URLSearchParams> {
  const answer = await get(callback, cookie);
  expect([answer.status, answer.headers.get('set-cookie')]).toEqual([
    302,
    expect.stringMatching(/^sign-in=; .*Max-Age=0/),
  ]);
  const location = new URL(answer.headers.get('location') ?? '');
  expect([location.origin, location.pathname]).toEqual([gateway().url, '/console/']);
  return new URLSearchParams(location.hash.slice(1));
}

describe('a person', () => {
  it.each([
    ['everyone', ['catalog', 'requests', 'usage', 'workspace']],
    ['cn=finance,ou=groups', ['catalog', 'usage', 'workspace']],
    ['engineers', ['catalog', 'run', 'requests', 'usage', 'workspace', 'provider_keys', 'manage']],
    ['admins', ['catalog', 'run', 'requests', 'usage', 'workspace', 'provider_keys', 'manage', 'operate']],
  ])('of the group %s gets the scopes of its role', async (group, scopes) => {
    const login = `person-${group.length}`;
    const claims = { email: `${login}@example.com`, groups: [group, 'others'], workspace: workspaceId };
    const fragment = await fragmentOf(login, claims);
    const { status, body } = await signIn(gateway(), fragment.get('code') ?? '');
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ kind: 'session', name: claims.email, made_by_subject: login, scopes }),
    ]);
  });

  it('of several groups has all their scopes', async () => {
    const claims = { groups: ['everyone', 'cn=finance,ou=groups'], workspace: workspaceId };
    const { body } = await signIn(gateway(), (await fragmentOf('both', claims)).get('code') ?? '');
    expect(body).toMatchObject({ name: 'both', scopes: ['catalog', 'requests', 'usage', 'workspace'] });
  });

  it.each([
    ['of no group', () => ({ groups: ['strangers'], workspace: workspaceId }), 'noRole'],
    ['without groups', () => ({ workspace: workspaceId }), 'noRole'],
    ['without a workspace', () => ({ groups: 'engineers' }), 'noWorkspace'],
    ['of a malformed workspace', () => ({ groups: 'engineers', workspace: 'acme' }), 'noWorkspace'],
    [
      'of a deleted workspace',
      () => ({ groups: 'engineers', workspace: '018f3c1e-7d2a-7b4c-9e5f-0a1b2c3d4e5f' }),
      'noWorkspace',
    ],
  ])('%s does not get in', async (who, claims, reason) => {
    const fragment = await fragmentOf(who, claims());
    expect([...fragment]).toEqual([['sign-in', reason]]);
  });

  it('of a session is listed by name, and leaves when it is revoked', async () => {
    const { caller, workspace } = await gateway().caller({}, ['manage', 'catalog']);
    const claims = { email: 'ada@example.com', groups: 'engineers', workspace: workspace.id };
    const { body } = await signIn(gateway(), (await fragmentOf('ada', claims)).get('code') ?? '');
    expect((await caller.call('GET', '/v2/keys?kind=session')).json()['data']).toEqual([
      expect.objectContaining({ id: body['id'], name: 'ada@example.com', state: 'live' }),
    ]);
    const revoked = await fetch(`${gateway().url}/v2/keys/${String(body['id'])}`, {
      method: 'DELETE',
      headers: await bearer(workspace.id, 'manage'),
    });
    expect(revoked.status).toBe(204);
    const models = await fetch(`${gateway().url}/v2/models`, {
      headers: { authorization: `Bearer ${String(body['key'])}` },
    });
    expect(models.status).toBe(401);
  });
});

describe('a callback', () => {
  it('works once, and only in the browser that began the sign-in', async () => {
    identity.people.set('grace', { groups: 'engineers', workspace: workspaceId });
    const [mine, other] = [await begin(), await begin()];
    const callback = await identity.signIn(mine.url, 'grace');
    for (const cookie of ['', 'sign-in=', 'sign-in=a.b', other.cookie]) {
      const fragment = await finish(callback, cookie);
      expect([cookie, fragment.has('code')]).toEqual([cookie, false]);
    }
    expect((await finish(callback, mine.cookie)).has('code')).toBe(true);
    expect([...(await finish(callback, mine.cookie))]).toEqual([['sign-in', 'expired']]);
  });

  it('with an invented code, or without one, does not open a session', async () => {
    const { url, cookie } = await begin();
    const state = new URL(url).searchParams.get('state');
    for (const [query, reason] of [
      [`state=${state}&code=invented&iss=${identity.issuer}`, 'expired'],
      [`state=${state}&error=access_denied&iss=${identity.issuer}`, 'declined'],
      [`state=${state}&code=invented&iss=https://another.example`, 'unavailable'],
      ['', 'unavailable'],
    ])
      expect([...(await finish(`/v2/sign-in/callback?${query}`, cookie))]).toEqual([['sign-in', reason]]);
  });
});

it('the console learns the name of the provider', async () => {
  expect(await (await get('/v2/sign-in/provider')).json()).toEqual({ name: 'Test Login' });
});

const read = (path: string) => fetch(`${plain().url}/v2/sign-in/${path}`);

it('without a provider there is nothing to begin', async () => {
  expect(await (await read('provider')).json()).toEqual({ name: null });
  expect([(await read('begin')).status, (await read('callback')).status]).toEqual([404, 404]);
});

it('a provider that is down is named as the reason', async () => {
  const { url, cookie } = await begin();
  const callback = await identity.signIn(url, 'grace');
  await identity.stop();
  expect([...(await finish(callback, cookie))]).toEqual([['sign-in', 'unavailable']]);
});
