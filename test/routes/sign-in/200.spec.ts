import { expect, it } from '@jest/globals';
import { sharedGateway } from '../gateways.js';

const gateway = sharedGateway();
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

async function link() {
  const { caller } = await gateway().caller({}, ['catalog', 'manage']);
  const made = await caller.call('POST', '/v2/sign-in/links');
  return { caller, ...(made.json() as { url: string; code: string; expires_at: string }) };
}

const signIn = async (code: string) => {
  const answer = await fetch(`${gateway().url}/v2/sign-in`, { method: 'POST', headers: bearer(code) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
};

it('exchanges the code of a link once for a key with the scopes of who made it', async () => {
  const { caller, url, code, expires_at } = await link();
  expect(url).toBe(`${gateway().url}/console/#code=${code}`);
  expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(15 * 60_000);
  const both = await Promise.all([signIn(code), signIn(code)]);
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
  const { key, scopes } = both.find(({ status }) => status === 200)?.body ?? {};
  expect(scopes).toEqual(['catalog', 'manage']);
  const models = await fetch(`${gateway().url}/v2/models`, { headers: bearer(String(key)) });
  expect(models.status).toBe(200);
  const keys = (await caller.call('GET', '/v2/keys')).json() as { data: { prefix: string }[] };
  expect(keys.data.map(({ prefix }) => String(key).startsWith(prefix))).toContain(true);
});

it('takes a code for nothing else, lists none, and refuses what is no code', async () => {
  const { caller, code } = await link();
  const models = await fetch(`${gateway().url}/v2/models`, { headers: bearer(code) });
  expect(models.status).toBe(401);
  const keys = (await caller.call('GET', '/v2/keys')).json() as { data: unknown[] };
  expect(keys.data).toHaveLength(1);
  expect((await signIn(caller.key)).status).toBe(401);
  expect((await signIn('rk_live_nobody')).status).toBe(401);
});
