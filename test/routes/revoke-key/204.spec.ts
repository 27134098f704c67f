import { ApiKeyRepository } from '#persistence';
import { expect, it } from '@jest/globals';
import { Caller } from '../../harness/caller.js';
import { waitFor } from '../../harness/wait-for.js';
import { sharedGateway } from '../gateways.js';
import { signIn } from '../sign-in/signing-in.js';

const gateway = sharedGateway();

it('a revoked key ends, even if the gateway has cached it, and the call may be repeated', async () => {
  const { caller } = await gateway().caller({}, ['manage', 'catalog']);
  const body = '{"name":"leaked","scopes":["catalog"]}';
  const row = (await caller.call('POST', '/v2/keys', { body })).json() as { id: string; key: string };
  const holder = new Caller(() => [gateway().url], row.key);
  expect((await holder.call('GET', '/v2/models')).status).toBe(200);
  for (let times = 0; times < 2; times += 1) {
    const answer = await caller.call('DELETE', `/v2/keys/${row.id}`);
    expect([answer.status, answer.bytes.length]).toEqual([204, 0]);
  }
  await waitFor(async () => (await holder.call('GET', '/v2/models')).status === 401, {
    withinMs: 60_000,
    what: 'the key to be rejected',
  });
  expect((await caller.call('GET', '/v2/keys')).json()['data']).toContainEqual(
    expect.objectContaining({ id: row.id, state: 'revoked', revoked_at: expect.any(String) }),
  );
});

/** Everything that a thief of a key could make: codes, sessions, and keys of the key and of a session. */
async function leaked() {
  const { caller, keyId, workspace } = await gateway().caller({}, ['manage', 'operate', 'catalog']);
  const call = async (path: string, by: Caller = caller, body?: string) =>
    (await by.call('POST', path, body === undefined ? {} : { body })).json() as Record<string, string>;
  const of = (key: string | undefined) => new Caller(() => [gateway().url], key ?? '');
  const newKey = '{"name":"hidden","scopes":["manage","catalog"]}';
  const links = [1, 2, 3].map(() => call('/v2/sign-in/links?scopes=manage,catalog'));
  const [first, second, third] = await Promise.all(links);
  const session = of(String((await signIn(gateway(), first?.['code'] ?? '')).body['key']));
  const made = of((await call('/v2/keys', caller, newKey))['key']);
  const madeBySession = of((await call('/v2/keys', session, newKey))['key']);
  const madeByMade = of((await call('/v2/keys', made, newKey))['key']);
  const nextCode = (await call('/v2/sign-in/links', session))['code'];
  return {
    keyId,
    workspace,
    holders: [caller, session, made, madeBySession, madeByMade],
    codes: [second?.['code'], third?.['code'], nextCode].map((code) => code ?? ''),
  };
}
const statuses = (holders: Caller[]) =>
  Promise.all(holders.map(async (holder) => (await holder.call('GET', '/v2/models')).status));

it('everything that a leaked key made ends, whether or not it was used before', async () => {
  const { keyId, holders, codes } = await leaked();
  expect(await statuses(holders)).toEqual([200, 200, 200, 200, 200]);
  const [early = '', ...late] = codes;
  const openedBefore = await signIn(gateway(), early);
  const session = new Caller(() => [gateway().url], String(openedBefore.body['key']));
  expect(await statuses([session])).toEqual([200]);
  // A session never operates, whatever its key may do.
  expect((await session.call('GET', '/v2/operator/workspaces')).status).toBe(403);

  await new ApiKeyRepository(gateway().database).revoke(keyId, 'test');
  const all = [...holders, session];
  await waitFor(async () => (await statuses(all)).every((status) => status === 401), {
    withinMs: 60_000,
    what: 'everything to be rejected',
  });
  expect(await Promise.all(late.map(async (code) => (await signIn(gateway(), code)).status))).toEqual([
    401, 401,
  ]);
  for (const holder of all)
    expect(
      (await holder.call('POST', '/v2/keys', { body: '{"name":"a","scopes":["catalog"]}' })).status,
    ).toBe(401);
});
