import type { OperatorOpenedWorkspace } from '#schemas';
import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { bearerOf, signIn } from '../sign-in/signing-in.js';

const gateway = sharedGateway();
const newName = () => `opened ${process.pid}-${process.hrtime.bigint()}`;

it('an operator creates a workspace with its first key and a link, and is recorded', async () => {
  const { caller, keyId } = await gateway().caller({}, ['operate']);
  const name = newName();
  const body = JSON.stringify({
    name,
    credits_cents: 500,
    key: { name: 'web', scopes: ['run', 'workspace'] },
  });
  const answer = await caller.call('POST', '/v2/operator/workspaces', { body });
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
  const opened = answer.json() as unknown as OperatorOpenedWorkspace;
  expect(opened).toMatchObject({
    workspace: { name, credits_cents: 500, enabled: true },
    key: { kind: 'key', name: 'web', scopes: ['run', 'workspace'], state: 'live' },
    sign_in_link: { scopes: ['run', 'workspace'] },
  });
  const { url, code, id, expires_at } = opened.sign_in_link;
  expect(url).toBe(`${gateway().url}/console/#code=${code}`);
  const lifeMs = Date.parse(expires_at) - Date.now();
  expect(lifeMs).toBeGreaterThan(23.9 * 3_600_000);
  expect(lifeMs).toBeLessThanOrEqual(24 * 3_600_000);

  // Opening the page does not use the link up.
  const page = await fetch(url);
  expect([page.status, page.headers.get('referrer-policy')]).toEqual([200, 'no-referrer']);
  const { status, body: session } = await signIn(gateway(), code);
  expect([status, session['id'], session['made_by']]).toEqual([200, id, opened.key.id]);
  const own = await fetch(`${gateway().url}/v2/workspace`, { headers: bearerOf(String(session['key'])) });
  expect(await own.json()).toMatchObject({ name, credits_cents: 500 });
  expect((await signIn(gateway(), code)).status).toBe(401);

  const audit = await caller.call('GET', `/v2/operator/audit?workspace=${opened.workspace.id}`);
  expect(
    (audit.json()['data'] as { actor: string; action: string }[]).map(({ actor, action }) => [actor, action]),
  ).toEqual([
    [`key:${id}`, 'sign_in.use'],
    [`key:${keyId}`, 'sign_in.create'],
    [`key:${keyId}`, 'key.create'],
    [`key:${keyId}`, 'workspace.create'],
  ]);
  for (const secret of [code, opened.key.key, String(session['key'])])
    expect(gateway().logs()).not.toContain(secret);
});

it('a name alone gives the usual credits, and a key of all scopes but `operate`', async () => {
  const { caller } = await gateway().caller({}, ['operate']);
  const body = JSON.stringify({ name: newName() });
  expect((await caller.call('POST', '/v2/operator/workspaces', { body })).json()).toMatchObject({
    workspace: { credits_cents: 10_000 },
    key: {
      name: 'first key',
      scopes: ['catalog', 'run', 'requests', 'usage', 'workspace', 'provider_keys', 'manage'],
    },
  });
});
