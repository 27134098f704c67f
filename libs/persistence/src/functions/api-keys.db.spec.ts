import { describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { v7 } from 'uuid';
import { ApiKeyRepository, type KeyMaker, type KeyRow } from '../api-key.repository.js';
import { RetentionRepository } from '../retention.repository.js';
import { SpecDatabase } from '../testing/spec-database.js';
import { credentialChannel } from './credential-changes.js';

const file = await SpecDatabase.create();
const first = file.process();
const second = file.process();
const keys = new ApiKeyRepository(first.database);
const others = new ApiKeyRepository(second.database);

const operator: KeyMaker = { actor: 'admin:ops@host' };
const all = { limit: 100 };
const by = (keyId: string): KeyMaker => ({ actor: `key:${keyId}`, keyId });
const hours = (count: number) => new Date(Date.now() + count * 3_600_000);
const facts = (expiresAt: Date | null = null) => ({ name: 'a key', scopes: ['run', 'manage'], expiresAt });

type Made = Awaited<ReturnType<ApiKeyRepository['create']>>;
const works = async ({ key }: { key: string }) => (await keys.byApiKey(key)) !== null;

async function session(workspaceId: string, maker: KeyMaker): Promise<Made> {
  const { code } = await keys.createCode(workspaceId, ['run', 'manage'], maker);
  const opened = await keys.exchange(code);
  if (opened === null) throw new Error('the code was rejected');
  return opened;
}

/** A key of the workspace, and every kind of key made from it. */
async function family() {
  const { id } = await first.workspace();
  const root = await keys.create(id, facts(), operator);
  const child = await keys.create(id, facts(), by(root.row.id));
  const grandchild = await keys.create(id, facts(), by(child.row.id));
  const opened = await session(id, by(root.row.id));
  const ofSession = await keys.create(id, facts(), by(opened.row.id));
  const unused = await keys.createCode(id, ['run'], by(opened.row.id));
  return { id, root, child, grandchild, opened, ofSession, unused };
}

const actions = (subject: string) =>
  first.database.reads.query<{ actor: string; action: string; details: Record<string, unknown> }>(
    'SELECT actor, action, details FROM operator_action WHERE subject = $1 ORDER BY id',
    [subject],
  );

describe('a key’s maker', () => {
  it('is the key that made it; a session acts for the key that opened it', async () => {
    const { root, child, grandchild, opened, ofSession, unused } = await family();
    expect([root, child, grandchild, opened, ofSession, unused].map(({ row }) => row.madeBy)).toEqual([
      null,
      root.row.id,
      child.row.id,
      root.row.id,
      root.row.id,
      root.row.id,
    ]);
  });

  it('is a person for keys made with an access token or a session that the token opened', async () => {
    const { id } = await first.workspace();
    const token = { subject: 'alice', expiresAt: hours(1) };
    const maker = { actor: 'token:alice', token };
    const own = await keys.create(id, facts(), maker);
    expect(own.row).toMatchObject({ madeBy: null, madeBySubject: 'alice', expiresAt: null });
    const opened = await session(id, maker);
    expect(opened.row).toMatchObject({ madeBySubject: 'alice', expiresAt: token.expiresAt });
    const ofSession = await keys.create(id, facts(), by(opened.row.id));
    expect(ofSession.row).toMatchObject({ madeBy: null, madeBySubject: 'alice', expiresAt: null });
    const others = await keys.create(id, facts(), { ...maker, token: { ...token, subject: 'bob' } });
    const below = await keys.create(id, facts(), by(own.row.id));
    expect(await keys.revokeMadeBySubject(id, 'alice', 'test')).toEqual({ ended: 4 });
    const left = await Promise.all([own, opened, ofSession, below, others].map(works));
    expect(left).toEqual([false, false, false, false, true]);
    expect(await keys.revokeMadeBySubject(id, 'carol', 'test')).toEqual({ ended: 0 });
  });

  it('is empty for operators: their keys belong to the workspace', async () => {
    const { id } = await first.workspace();
    const opened = await session(id, operator);
    const ofSession = await keys.create(id, facts(), by(opened.row.id));
    expect([opened.row, ofSession.row]).toMatchObject([
      { madeBy: null, madeBySubject: null },
      { madeBy: null, madeBySubject: null },
    ]);
  });

  it('must be live and must not be a code', async () => {
    const { id, root, unused } = await family();
    await keys.revoke(root.row.id, 'test');
    for (const maker of [root, unused])
      await expect(keys.create(id, facts(), by(maker.row.id))).rejects.toThrow('caller_ended');
    await expect(keys.createCode(id, ['run'], by(v7()))).rejects.toThrow('caller_ended');
  });

  it('has a limited number of makers itself', async () => {
    const { id } = await first.workspace();
    let last = await keys.create(id, facts(), operator);
    for (let makers = 1; makers <= 8; makers += 1) last = await keys.create(id, facts(), by(last.row.id));
    await expect(keys.create(id, facts(), by(last.row.id))).rejects.toThrow('too_many_makers');
    expect(await works(last)).toBe(true);
  });
});

describe('revoking a key', () => {
  it('ends every key made from it, and no other', async () => {
    const { root, child, grandchild, opened, ofSession, unused } = await family();
    expect(await keys.revoke(child.row.id, 'test')).toEqual({ ended: 2 });
    expect(await Promise.all([root, opened, ofSession].map(works))).toEqual([true, true, true]);
    expect(await keys.revoke(root.row.id, 'test')).toEqual({ ended: 4 });
    const left = await Promise.all([root, child, grandchild, opened, ofSession].map(works));
    expect(left).toEqual([false, false, false, false, false]);
    expect([await keys.isCode(unused.code), await keys.exchange(unused.code)]).toEqual([false, null]);
  });

  it('ends a key whose own row is unchanged, as a gateway of the previous release leaves it', async () => {
    const { root, grandchild, unused } = await family();
    await first.database.work.query('UPDATE api_key SET revoked_at = router_now() WHERE id = $1', [
      root.row.id,
    ]);
    expect(await works(grandchild)).toBe(false);
    expect(await keys.find(grandchild.row.id)).toMatchObject({ state: 'revoked', revokedAt: null });
    expect([await keys.isCode(unused.code), await keys.exchange(unused.code)]).toEqual([false, null]);
  });

  it('ends keys that are made from it concurrently', async () => {
    const { id } = await first.workspace();
    for (let round = 0; round < 20; round += 1) {
      const root = await keys.create(id, facts(), operator);
      const { code } = await keys.createCode(id, ['run'], by(root.row.id));
      const made = await Promise.allSettled([
        ...[0, 1, 2].map(() => others.create(id, facts(), by(root.row.id))),
        others.exchange(code),
        keys.revoke(root.row.id, 'test'),
      ]);
      const keysMade = made.flatMap((each) =>
        each.status === 'fulfilled' && each.value && 'key' in each.value ? [each.value] : [],
      );
      expect(await Promise.all(keysMade.map(works))).toEqual(keysMade.map(() => false));
    }
    const states = (await keys.list({ workspaceId: id }, { limit: 1000 })).map(({ revokedAt }) => revokedAt);
    expect(states).not.toContain(null);
  });
});

describe('a key that expires', () => {
  it('passes its expiry to the keys it makes, and makes no key that outlives it', async () => {
    const { id } = await first.workspace();
    const end = hours(2);
    const root = await keys.create(id, facts(end), operator);
    const child = await keys.create(id, facts(), by(root.row.id));
    const opened = await session(id, by(child.row.id));
    expect([child.row.expiresAt, opened.row.expiresAt]).toEqual([end, end]);
    expect((await keys.create(id, facts(hours(1)), by(root.row.id))).row.expiresAt).not.toEqual(end);
    for (const maker of [root, child, opened])
      await expect(keys.create(id, facts(hours(3)), by(maker.row.id))).rejects.toThrow('outlives_maker');
    const later = new ApiKeyRepository(file.process('121 minutes').database);
    for (const each of [root, child, opened]) expect(await later.byApiKey(each.key)).toBeNull();
  });

  it('ends the keys it made also if its expiry was set later', async () => {
    const { child, grandchild, root } = await family();
    await first.database.work.query(`UPDATE api_key SET expires_at = router_now() + '1 hour' WHERE id = $1`, [
      root.row.id,
    ]);
    const found = await keys.byApiKey(grandchild.key);
    expect(found?.remainingMs).toBeGreaterThan(3_500_000);
    expect(found?.remainingMs).toBeLessThanOrEqual(3_600_000);
    const later = new ApiKeyRepository(file.process('61 minutes').database);
    expect([await later.byApiKey(child.key), await later.byApiKey(grandchild.key)]).toEqual([null, null]);
    expect(await later.find(grandchild.row.id)).toMatchObject({ state: 'expired' });
  });

  it('as a session expires 12 hours after its code was made, whatever sessions it opens', async () => {
    const { id } = await first.workspace();
    const opened = await session(id, operator);
    const next = await session(id, by(opened.row.id));
    expect(next.row.expiresAt).toEqual(opened.row.expiresAt);
    expect(await new ApiKeyRepository(file.process('11 hours').database).byApiKey(next.key)).not.toBeNull();
    expect(await new ApiKeyRepository(file.process('13 hours').database).byApiKey(next.key)).toBeNull();
  });
});

describe('rotating a key', () => {
  it('moves the keys it made to the new key, which is a copy with the same maker', async () => {
    const { root, child, grandchild } = await family();
    const next = await keys.rotate(child.row.id, 0, { actor: 'test' });
    expect(next?.row).toMatchObject({ madeBy: root.row.id, name: 'a key', scopes: ['run', 'manage'] });
    expect((await keys.find(grandchild.row.id))?.madeBy).toBe(next?.row.id);
    expect([await works(child), await works(grandchild)]).toEqual([false, true]);
    expect(await keys.revoke(child.row.id, 'test')).toEqual({ ended: 0 });
    expect(await keys.revoke(root.row.id, 'test')).toEqual({ ended: 6 });
    expect(next && (await works(next))).toBe(false);
  });

  it('links both, and keeps the id of the first for budgets', async () => {
    const { root } = await family();
    const next = await keys.rotate(root.row.id, 60, { actor: 'test' });
    const last = await keys.rotate(next?.row.id ?? '', 60, { actor: 'test' });
    expect([next?.row.firstId, last?.row.firstId]).toEqual([root.row.id, root.row.id]);
    expect((await keys.find(root.row.id))?.rotatedTo).toBe(next?.row.id);
  });

  it('by a caller is only for keys that end with the caller’s maker', async () => {
    const { id, root, child, opened, grandchild } = await family();
    const refused = (rotated: { row: KeyRow }, caller: { row: KeyRow }) =>
      expect(keys.rotate(rotated.row.id, 60, by(caller.row.id))).rejects.toThrow('not_made_by_caller');
    await refused(root, root);
    await refused(root, child);
    await refused(child, child);
    // The session acts for the root.
    await refused(root, opened);
    const token = { subject: 'alice', expiresAt: hours(1) };
    const kept = await keys.rotate(grandchild.row.id, 60, by(opened.row.id));
    const theirs = await keys.rotate(root.row.id, 60, { actor: 'token:alice', token });
    expect(theirs?.row).toMatchObject({ madeBy: null, madeBySubject: 'alice' });
    expect(await keys.revokeMadeBySubject(id, 'alice', 'test')).toEqual({ ended: 7 });
    expect(kept && (await works(kept))).toBe(false);
    await expect(keys.rotate(child.row.id, 60, by(opened.row.id))).resolves.toBeNull();
  });

  it('is only for live keys, and not for sessions', async () => {
    const { child, opened, unused } = await family();
    await keys.revoke(child.row.id, 'test');
    for (const { row } of [child, opened, unused])
      expect(await keys.rotate(row.id, 60, { actor: 'test' })).toBeNull();
  });
});

describe('the use of keys', () => {
  it('is noted without telling that they changed, and not again within a minute', async () => {
    const { root, child } = await family();
    const used = async () => (await keys.find(root.row.id))?.lastUsedAt ?? null;
    expect(await used()).toBeNull();
    const told: unknown[] = [];
    const listener = new Client({ connectionString: file.url, connectionTimeoutMillis: 20_000 });
    await listener.connect();
    try {
      const ended = new Promise<void>((resolve) => {
        listener.on('notification', ({ payload }) => {
          told.push(payload);
          if (payload === 'end') resolve();
        });
      });
      await listener.query(`LISTEN ${credentialChannel}`);
      await keys.noteUse([root.row.id, v7()]);
      const before = await used();
      expect(before).not.toBeNull();
      await keys.noteUse([root.row.id]);
      expect(await used()).toEqual(before);
      await new ApiKeyRepository(file.process('1 minute').database).noteUse([root.row.id]);
      expect(await used()).not.toEqual(before);
      expect((await keys.find(child.row.id))?.lastUsedAt).toBeNull();
      await keys.revoke(child.row.id, 'test');
      await listener.query(`NOTIFY ${credentialChannel}, 'end'`);
      await ended;
      expect(told).toEqual([root.row.workspaceId, 'end']);
    } finally {
      await listener.end();
    }
  });
});

describe('the record of operators’ actions', () => {
  it('records who made, used, rotated and revoked each key', async () => {
    const { root, opened, grandchild } = await family();
    await keys.rotate(root.row.id, 60, { actor: 'admin:ops@host' });
    await keys.revoke(root.row.prefix, 'token:alice');
    expect(await actions(root.row.id)).toMatchObject([
      {
        actor: 'admin:ops@host',
        action: 'key.create',
        details: { scopes: ['run', 'manage'], made_by: null },
      },
      { actor: 'admin:ops@host', action: 'key.rotate', details: { prefix: root.row.prefix } },
      { actor: 'token:alice', action: 'key.revoke', details: { ended: 1 } },
    ]);
    expect(await actions(opened.row.id)).toMatchObject([
      { actor: `key:${root.row.id}`, action: 'sign_in.create', details: { made_by: root.row.id } },
      { actor: `key:${opened.row.id}`, action: 'sign_in.use', details: { name: 'sign-in' } },
    ]);
    expect(await actions(grandchild.row.id)).toMatchObject([{ action: 'key.create' }]);
    expect(JSON.stringify(await actions(opened.row.id))).not.toContain('hash');
    await keys.revoke(root.row.prefix, 'token:alice');
    expect(await actions(root.row.id)).toHaveLength(3);
  });
});

/** The ids of the keys that retention leaves after a time. */
async function left(offset: string, workspaceId: string) {
  const retention = new RetentionRepository(file.process(offset).database, {
    RESULT_RETENTION_SECONDS: 86_400,
    LEDGER_RETENTION_MONTHS: 13,
  });
  while ((await retention.deleteOld('api_key')) > 0);
  return (await keys.list({ workspaceId }, all)).map(({ id }) => id).toSorted();
}

const ids = (...rows: { row: { id: string } }[]) => rows.map(({ row }) => row.id).toSorted();

describe('retention', () => {
  it('deletes sessions and codes a month after their end, and keys once no record names them', async () => {
    const { id, root, child, grandchild, opened, ofSession, unused } = await family();
    const lasting = await keys.create(id, facts(), operator);
    await keys.revoke(root.row.id, 'test');
    const named = [root, child, grandchild, ofSession, lasting];
    expect(await left('30 days', id)).toEqual(ids(...named, opened, unused));
    expect(await left('31 days', id)).toEqual(ids(...named));
    expect(await left('390 days', id)).toEqual(ids(...named));
    expect(await left('400 days', id)).toEqual(ids(lasting));
  });
});

/** The statements of the previous release, which keeps running during the rollout of this one. */
describe('a gateway of the previous release', () => {
  it('makes keys and codes, exchanges codes and revokes keys', async () => {
    const { id } = await first.workspace();
    const insert = (oneTime: boolean, prefix: string) =>
      first.database.work.query(
        `INSERT INTO api_key (id, workspace_id, name, prefix, hash, scopes, expires_at, one_time)
          VALUES ($1, $2, 'old', $3, '', '{run}', router_now() + interval '15 minutes', $4)`,
        [v7(), id, prefix, oneTime],
      );
    await insert(false, `key-${id}`);
    await insert(true, `code-${id}`);
    const { row } = await keys.createCode(id, ['run'], operator);
    for (const prefix of [`code-${id}`, row.prefix])
      await first.database.work.query(
        `UPDATE api_key SET one_time = false, expires_at = router_now() + interval '12 hours' WHERE prefix = $1`,
        [prefix],
      );
    const listed = await keys.list({ workspaceId: id }, all);
    // A session that it opens counts as one if this release made the code.
    expect(listed.map(({ kind, state }) => [kind, state])).toEqual([
      ['session', 'live'],
      ['key', 'live'],
      ['key', 'live'],
    ]);
  });
});

describe('a row of the previous release', () => {
  it('is a key of the workspace, and its code opens a session that this release can end', async () => {
    const { id } = await first.workspace();
    const { code, row } = await keys.createCode(id, ['run'], operator);
    await first.database.work.query('UPDATE api_key SET session_until = NULL WHERE id = $1', [row.id]);
    const opened = await keys.exchange(code);
    expect(opened?.row).toMatchObject({ kind: 'session', madeBy: null });
    expect(Number(opened?.row.expiresAt) - Date.now()).toBeLessThanOrEqual(12 * 3_600_000 + 2_000);
    expect((await keys.list({ workspaceId: id }, all)).map(({ kind }) => kind)).toEqual(['session']);
  });
});
