import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';
import { operatorActions } from '../operator-actions.js';
import { signIn } from '../sign-in/signing-in.js';

const gateway = sharedGateway();

it('a link leads to the console, and the answer lists the session’s scopes', async () => {
  const { caller, keyId } = await gateway().caller({}, ['catalog', 'run', 'usage', 'manage']);
  const answer = await caller.call('POST', '/v2/sign-in/links');
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([201, 'no-store']);
  const { id, code, ...made } = answer.json();
  expect(made).toEqual({
    url: `${gateway().url}/console/#code=${String(code)}`,
    expires_at: expect.any(String),
    scopes: ['catalog', 'run', 'usage'],
  });
  expect(Date.parse(String(made['expires_at'])) - Date.now()).toBeLessThanOrEqual(15 * 60_000);
  expect((await signIn(gateway(), String(code))).status).toBe(200);
  expect(await operatorActions(gateway(), String(id))).toMatchObject([
    { actor: `key:${keyId}`, action: 'sign_in.create', details: { made_by: keyId } },
    { actor: `key:${String(id)}`, action: 'sign_in.use' },
  ]);
});
