import { expect, it } from '@jest/globals';
import { Caller } from '../../harness/caller.js';
import { sharedGateway } from '../gateways.js';
import { bearer } from '../generations.js';
import { signIn } from '../sign-in/signing-in.js';

const gateway = sharedGateway();
const body = '{"name":"made","scopes":["manage"]}';
const of = (key: unknown) => new Caller(() => [gateway().url], String(key));
const made = async (by: Caller) => {
  const { id, key } = (await by.call('POST', '/v2/keys', { body })).json();
  return { id: String(id), caller: of(key) };
};
const revoked = async (by: Caller, id: string) => {
  const answer = await by.call('DELETE', `/v2/keys/${id}`);
  return answer.status === 204 ? 204 : [answer.status, answer.bucket];
};
const forbidden = [403, 'forbidden'];

it('a key revokes itself and what it made, and nothing else', async () => {
  const { caller, keyId } = await gateway().caller({}, ['manage']);
  const [one, other] = [await made(caller), await made(caller)];
  const grandchild = await made(one.caller);
  for (const id of [keyId, other.id]) expect(await revoked(one.caller, id)).toEqual(forbidden);
  expect(await revoked(grandchild.caller, one.id)).toEqual(forbidden);
  expect(await revoked(one.caller, grandchild.id)).toBe(204);
  expect(await revoked(other.caller, other.id)).toBe(204);
  expect(await revoked(caller, one.id)).toBe(204);
});

it('a session revokes what the key that opened it made; a person revokes any key', async () => {
  const { caller, keyId, workspace, keyWith } = await gateway().caller({}, ['manage']);
  const { code } = (await caller.call('POST', '/v2/sign-in/links?scopes=manage')).json();
  const session = of((await signIn(gateway(), String(code))).body['key']);
  const child = await made(caller);
  const other = (await (await keyWith({}, ['workspace'])).call('GET', '/v2/workspace')).json();
  const { key_id: foreign } = other['credential'] as { key_id: string };
  const grandchild = await made(child.caller);
  for (const id of [keyId, foreign]) expect(await revoked(session, id)).toEqual(forbidden);
  expect(await revoked(session, grandchild.id)).toBe(204);
  expect(await revoked(session, child.id)).toBe(204);
  const person = await fetch(`${gateway().url}/v2/keys/${keyId}`, {
    method: 'DELETE',
    headers: await bearer(workspace.id, 'manage'),
    signal: AbortSignal.timeout(30_000),
  });
  expect(person.status).toBe(204);
});
