import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { bearerOf, signIn } from '../sign-in/signing-in.js';

const gateway = sharedGateway();

it('an operator creates a link for a key of a workspace, which ends with the key', async () => {
  const customer = await gateway().caller({}, ['catalog', 'run', 'workspace', 'manage']);
  const { caller, keyId } = await gateway().caller({}, ['operate']);
  const path = `/v2/operator/workspaces/${customer.workspace.name}/sign-in-links`;
  const body = JSON.stringify({ key_id: customer.keyId, scopes: ['workspace'] });
  const answer = await caller.call('POST', path, { body });
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
  const { id, code } = answer.json() as { id: string; code: string };
  const { body: session } = await signIn(gateway(), code);
  expect(session).toMatchObject({ id, kind: 'session', scopes: ['workspace'], made_by: customer.keyId });
  const read = () =>
    fetch(`${gateway().url}/v2/workspace`, { headers: bearerOf(String(session['key'])) }).then(
      ({ status }) => status,
    );
  expect(await read()).toBe(200);
  const audit = await caller.call('GET', `/v2/operator/audit?subject=${id}&action=sign_in.create`);
  expect(audit.json()['data']).toMatchObject([
    { actor: `key:${keyId}`, details: { made_by: customer.keyId, scopes: ['workspace'] } },
  ]);
  expect((await customer.caller.call('DELETE', `/v2/keys/${customer.keyId}`)).status).toBe(204);
  const unused = await caller.call('POST', path, { body });
  expect([unused.status, unused.bucket]).toEqual([409, 'invalid_input']);
});

it('without a key the link belongs to the workspace and cannot manage keys', async () => {
  const customer = await gateway().caller({}, ['manage']);
  const { caller } = await gateway().caller({}, ['operate']);
  const path = `/v2/operator/workspaces/${customer.workspace.id}/sign-in-links`;
  const { id, scopes } = (await caller.call('POST', path, { body: '{}' })).json();
  expect(scopes).toEqual(['catalog', 'run', 'requests', 'usage', 'workspace', 'provider_keys']);
  expect((await customer.caller.call('GET', '/v2/keys?kind=code')).json()['data']).toMatchObject([
    { id, state: 'live' },
  ]);
});
