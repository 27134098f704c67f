import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { ApiKeyRepository, type KeyMaker } from '../api-key.repository.js';
import { SpecDatabase } from '../testing/spec-database.js';

const file = await SpecDatabase.create();
const first = file.process();
const keys = new ApiKeyRepository(first.database);

const operator: KeyMaker = { actor: 'admin:ops@host' };
const facts = { name: 'a key', scopes: ['run'], expiresAt: null };

const fill = (workspaceId: string, count: number, columns: string) =>
  first.database.work.query(
    `INSERT INTO api_key (id, workspace_id, name, prefix, hash, scopes, created_at, expires_at, revoked_at)
      SELECT gen_random_uuid(), $1, 'filler', gen_random_uuid()::text, '', '{}', ${columns} FROM generate_series(1, $2)`,
    [workspaceId, count],
  );

describe('the number of keys of a workspace', () => {
  it('is limited for all makers by the number of live keys', async () => {
    const { id } = await first.workspace();
    await fill(id, 999, `router_now(), router_now() + interval '1 hour', NULL`);
    await fill(id, 500, `router_now(), NULL, router_now()`);
    const last = await keys.create(id, facts, operator);
    await expect(keys.create(id, facts, operator)).rejects.toThrow('1000 keys');
    await expect(keys.createCode(id, ['run'], operator)).rejects.toThrow('1000 keys');
    await keys.revoke(last.row.id, 'test');
    expect((await keys.create(id, facts, operator)).row.state).toBe('live');
    const later = new ApiKeyRepository(file.process('2 hours').database);
    expect((await later.create(id, facts, operator)).row.state).toBe('live');
  });

  it('is limited per day for callers, so that revoking keys makes no room', async () => {
    const { id } = await first.workspace();
    const root = await keys.create(id, facts, operator);
    await first.database.work.query(
      `INSERT INTO api_key (id, workspace_id, name, prefix, hash, scopes, revoked_at)
        SELECT overlay(gen_random_uuid()::text PLACING left($2::text, 13) FROM 1)::uuid, $1, 'filler',
          gen_random_uuid()::text, '', '{}', router_now() FROM generate_series(1, 999)`,
      [id, v7()],
    );
    const token = { subject: 'alice', expiresAt: new Date(Date.now() + 3_600_000) };
    for (const maker of [
      { actor: 'key', keyId: root.row.id },
      { actor: 'token:alice', token },
    ])
      await expect(keys.create(id, facts, maker)).rejects.toThrow('too_many_a_day');
    expect((await keys.create(id, facts, operator)).row.state).toBe('live');
  });
});
