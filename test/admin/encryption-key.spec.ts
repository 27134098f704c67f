import { ownKeyContext, OwnKeyRepository } from '#persistence';
import { openEnvelope, sealEnvelope } from '#schemas';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ownDatabase } from './own-database.js';
import { answerOf, runAdmin } from './run-admin.js';

interface Pair {
  public_key: string;
  private_key: string;
}

const { env, database } = await ownDatabase();
const keys = new OwnKeyRepository(database);
const rotate = (...privateKeys: string[]) =>
  runAdmin({ ...env, ENCRYPTION_KEYS: privateKeys.join(',') }, 'encryption-key', 'rotate', '--json');

describe('admin encryption-key', () => {
  let workspaceId: string;

  beforeAll(async () => {
    ({ id: workspaceId } = await answerOf<{ id: string }>(env, 'workspace', 'create', 'acme'));
  });
  const set = (provider: string, { public_key }: Pair) =>
    keys.set(
      workspaceId,
      provider,
      {
        envelope: sealEnvelope(public_key, ownKeyContext(workspaceId, provider), `secret of ${provider}`),
        lastCharacters: null,
      },
      'test',
    );
  const opened = async (provider: string, ...privateKeys: string[]) => {
    const current = await keys.current(workspaceId, provider);
    return current && openEnvelope(privateKeys, current.context, current);
  };

  it('rotates: rows move to the first key, and a repeated command finds only what is left', async () => {
    const [former, lost, next] = [
      await answerOf<Pair>(env, 'encryption-key', 'create'),
      await answerOf<Pair>(env, 'encryption-key', 'create'),
      await answerOf<Pair>(env, 'encryption-key', 'create'),
    ];
    const providers = Array.from({ length: 130 }, (_, nth) => `provider-${nth}`);
    for (const provider of providers) await set(provider, former);
    await set('of-a-lost-key', lost);

    const partly = await rotate(next.private_key, former.private_key);
    expect([partly.code, JSON.parse(partly.out)]).toMatchObject([1, { wrapped: 130 }]);
    expect(Object.values((JSON.parse(partly.out) as { left: object }).left)).toEqual([1]);
    for (const provider of providers)
      expect(await opened(provider, next.private_key)).toBe(`secret of ${provider}`);
    expect(await opened('of-a-lost-key', lost.private_key)).toBe('secret of of-a-lost-key');

    const rest = await rotate(next.private_key, lost.private_key);
    expect([rest.code, JSON.parse(rest.out)]).toMatchObject([0, { wrapped: 1, left: {} }]);
    const nothing = await rotate(next.private_key);
    expect([nothing.code, JSON.parse(nothing.out)]).toMatchObject([0, { wrapped: 0 }]);
  });

  it('opens no row that was exchanged with another one', async () => {
    const pair = await answerOf<Pair>(env, 'encryption-key', 'create');
    await set('one', pair);
    await set('two', pair);
    await database.work.query(
      `UPDATE own_key SET sealed = other.sealed, wrapped_key = other.wrapped_key, wrapped_for = other.wrapped_for
        FROM own_key AS other WHERE own_key.provider = 'one' AND other.provider = 'two'`,
    );
    await expect(opened('one', pair.private_key)).rejects.toThrow(/belongs to another row/);
    expect(await opened('two', pair.private_key)).toBe('secret of two');
  });

  it('says what is wrong with the keys', async () => {
    expect(await rotate()).toMatchObject({
      code: 1,
      error: expect.stringMatching(/ENCRYPTION_KEYS is not set/),
    });
    const { public_key } = await answerOf<Pair>(env, 'encryption-key', 'create');
    expect(await rotate(public_key)).toMatchObject({
      code: 1,
      error: expect.stringMatching(/ENCRYPTION_KEYS: must be private keys/),
    });
  });

  it('keeps the former versions of a key that live runs may need, up to twenty', async () => {
    const pair = await answerOf<Pair>(env, 'encryption-key', 'create');
    for (let nth = 0; nth < 25; nth += 1) await set('replaced', pair);
    const [kept] = await database.work.query<{ rows: number }>(
      `SELECT count(*)::integer AS rows FROM own_key WHERE provider = 'replaced'`,
    );
    expect(kept).toEqual({ rows: 21 });
    expect(await keys.list(workspaceId)).toContainEqual(expect.objectContaining({ provider: 'replaced' }));
  });
});
