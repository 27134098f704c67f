import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { ApiKeyRepository } from './api-key.repository.js';
import { SpecDatabase } from './testing/spec-database.js';

const file = await SpecDatabase.create();
const process = file.process();
const keys = new ApiKeyRepository(process.database);
const forever = { name: 'lasting', scopes: ['run'], expiresAt: null };

describe('a key of a workspace', () => {
  it('ends at the moment it was given, by the database’s clock', async () => {
    const { id } = await process.workspace();
    const { key, row } = await keys.create(id, {
      name: 'hour',
      scopes: ['run'],
      expiresAt: new Date(Date.now() + 3_600_000),
    });
    const lasting = await keys.create(id, forever);
    expect(row).toMatchObject({ workspaceId: id, name: 'hour', scopes: ['run'], state: 'live' });
    const later = new ApiKeyRepository(file.process('61 minutes').database);
    expect(await keys.byApiKey(key)).toMatchObject({ workspaceId: id, keyId: row.id });
    expect(await later.byApiKey(key)).toBeNull();
    expect(await later.byApiKey(lasting.key)).toMatchObject({ workspaceId: id });
    expect((await later.list(id)).map(({ state }) => state)).toEqual(['expired', 'live']);
  });

  it('ends at once when it is revoked, once', async () => {
    const { id } = await process.workspace();
    const { key, row } = await keys.create(id, forever);
    expect(await keys.revoke(row.prefix)).toEqual({ revoked: true });
    expect(await keys.byApiKey(key)).toBeNull();
    expect(await keys.revoke(row.id)).toEqual({ revoked: false });
    expect(await keys.list(id)).toMatchObject([{ state: 'revoked', revokedAt: expect.any(Date) }]);
    expect(await keys.revoke(v7())).toBeNull();
  });

  it('belongs to it: another workspace neither lists nor revokes it', async () => {
    const [own, other] = [await process.workspace(), await process.workspace()];
    const { key, row } = await keys.create(own.id, forever);
    expect(await keys.list(other.id)).toEqual([]);
    expect(await keys.revoke(row.id, other.id)).toBeNull();
    expect(await keys.byApiKey(key)).not.toBeNull();
    expect(await keys.revoke(row.id, own.id)).toEqual({ revoked: true });
  });
});
