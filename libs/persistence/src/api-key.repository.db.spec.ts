import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { ApiKeyRepository } from './api-key.repository.js';
import { planOf } from './testing/plan.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const process = file.process();
const keys = new ApiKeyRepository(process.database);
const forever = { name: 'lasting', scopes: ['run'], expiresAt: null };
const operator = { actor: 'test' };
const page = { limit: 10 };

describe('a key of a workspace', () => {
  it('expires at its time, by the database’s clock', async () => {
    const { id } = await process.workspace();
    const { key, row } = await keys.create(
      id,
      { name: 'hour', scopes: ['run'], expiresAt: new Date(Date.now() + 3_600_000) },
      operator,
    );
    const lasting = await keys.create(id, forever, operator);
    expect(row).toMatchObject({ workspaceId: id, name: 'hour', scopes: ['run'], state: 'live', kind: 'key' });
    const soon = new ApiKeyRepository(file.process('59 minutes').database);
    const found = await soon.byApiKey(key);
    expect(found).toMatchObject({ workspaceId: id, keyId: row.id });
    expect(found?.remainingMs).toBeGreaterThan(0);
    expect(found?.remainingMs).toBeLessThan(120_000);
    const later = new ApiKeyRepository(file.process('61 minutes').database);
    expect(await later.byApiKey(key)).toBeNull();
    expect(await later.byApiKey(lasting.key)).toMatchObject({ workspaceId: id, remainingMs: null });
    expect((await later.list({ workspaceId: id }, page)).map(({ state }) => state)).toEqual([
      'live',
      'expired',
    ]);
  });

  it('ends at once when it is revoked, and only once', async () => {
    const { id } = await process.workspace();
    const { key, row } = await keys.create(id, forever, operator);
    expect(await keys.revoke(row.prefix, 'test')).toEqual({ ended: 1 });
    expect(await keys.byApiKey(key)).toBeNull();
    expect(await keys.revoke(row.id, 'test')).toEqual({ ended: 0 });
    expect(await keys.find(row.prefix)).toMatchObject({ state: 'revoked', revokedAt: expect.any(Date) });
    expect(await keys.revoke(v7(), 'test')).toBeNull();
    expect(await keys.find(v7())).toBeNull();
  });

  it('is neither listed nor revoked by another workspace', async () => {
    const [own, other] = [await process.workspace(), await process.workspace()];
    const { key, row } = await keys.create(own.id, forever, operator);
    expect(await keys.list({ workspaceId: other.id }, page)).toEqual([]);
    expect(await keys.revokeAs(row.id, other.id, { actor: 'test' })).toBeNull();
    expect(await keys.byApiKey(key)).not.toBeNull();
    expect(await keys.revokeAs(row.id, own.id, { actor: 'test' })).toEqual({ ended: 1 });
  });

  it('is listed in pages, newest first, by kind', async () => {
    const { id } = await process.workspace();
    const made: string[] = [];
    for (let count = 0; count < 3; count += 1) made.push((await keys.create(id, forever, operator)).row.id);
    const { code, row } = await keys.createCode(id, ['run'], operator);
    const session = await keys.exchange((await keys.createCode(id, ['run'], operator)).code);
    const newest = [session?.row.id, row.id, ...made.toReversed()];
    const listed: string[] = [];
    for (let after: string | undefined; listed.length < newest.length; after = listed.at(-1)) {
      const rows = await keys.list({ workspaceId: id }, { after, limit: 2 });
      listed.push(...rows.map((each) => each.id));
    }
    expect(listed).toEqual(newest);
    const ids = async (kind: 'key' | 'code' | 'session') =>
      (await keys.list({ workspaceId: id, kind }, page)).map((each) => each.id);
    expect(await ids('key')).toEqual(made.toReversed());
    expect(await ids('code')).toEqual([row.id]);
    expect(await ids('session')).toEqual([session?.row.id]);
    expect((await keys.list({}, { limit: 5 })).map((each) => each.id)).toEqual(newest);
    expect(await keys.isCode(code)).toBe(true);
  });

  it('is listed by reading only one page of rows, however many exist', async () => {
    const { id } = await process.workspace();
    await process.database.work.query(
      `INSERT INTO api_key (id, workspace_id, name, prefix, hash, scopes)
        SELECT gen_random_uuid(), $1, 'filler', gen_random_uuid()::text, '', '{}' FROM generate_series(1, 5000)`,
      [id],
    );
    await process.database.work.query('ANALYZE api_key');
    for (const filter of [{ workspaceId: id }, {}, { workspaceId: id, kind: 'key' as const }]) {
      const nodes = await planOf(process, (database) => new ApiKeyRepository(database).list(filter, page));
      expect(nodes.filter(({ node }) => node.includes('Seq Scan on api_key'))).toEqual([]);
      expect(Math.max(...nodes.map(({ rows }) => rows))).toBeLessThanOrEqual(page.limit);
    }
  });
});
