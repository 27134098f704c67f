import { ApiKeyRepository, Database, databaseSettings } from '#persistence';
import { accessTokenClaims, readSettings } from '#schemas';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jwtVerify } from 'jose';
import { createDatabase, failOnLeftovers, longTimeouts, type TestDatabase } from '../harness/index.js';
import { answerOf, runAdmin } from './run-admin.js';

interface KeyDocument {
  id: string;
  key: string;
  prefix: string;
  expires_at: string | null;
}

const secret = 'a-secret-of-more-than-32-characters-for-tests';
const dayMs = 24 * 60 * 60 * 1000;

describe('admin key and token', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let env: { DATABASE_URL: string };
  let workspaceId: string;

  beforeAll(async () => {
    testDatabase = await createDatabase();
    env = { DATABASE_URL: testDatabase.url };
    database = Database.create(readSettings(databaseSettings, { ...env, ...longTimeouts }));
    ({ id: workspaceId } = await answerOf<{ id: string }>(env, 'workspace', 'create', 'acme'));
    await answerOf(env, 'workspace', 'create', 'other');
  });

  afterAll(async () => {
    await database.close();
    await testDatabase.drop();
  });

  const caller = (key: string) => new ApiKeyRepository(database).byApiKey(key);

  it('creates a key that names its workspace and scopes to the gateway', async () => {
    const { key, expires_at } = await answerOf<KeyDocument>(env, 'key', 'create', '--workspace', 'acme');
    expect(await caller(key)).toMatchObject({ workspaceName: 'acme', scopes: ['catalog', 'run'] });
    expect(expires_at).toBeNull();
  });

  it('creates a key with fewer scopes and an end', async () => {
    const options = ['--workspace', 'acme', '--scopes', 'catalog', '--expires-days', '3', '--name', 'reader'];
    const before = Date.now();
    const { key, expires_at } = await answerOf<KeyDocument>(env, 'key', 'create', ...options);
    const after = Date.now();
    expect(await caller(key)).toMatchObject({ scopes: ['catalog'] });
    const madeMs = Date.parse(expires_at ?? '') - 3 * dayMs;
    expect(madeMs).toBeGreaterThanOrEqual(before);
    expect(madeMs).toBeLessThanOrEqual(after);
  });

  it('lists keys by prefix, and never their text or hash', async () => {
    const { key, prefix } = await answerOf<KeyDocument>(env, 'key', 'create', '--workspace', 'other');
    const { code, out } = await runAdmin(env, 'key', 'list', '--json');
    expect(code).toBe(0);
    expect(out).toContain(prefix);
    expect(out).not.toContain(key);
    expect(out).not.toMatch(/hash|[0-9a-f]{64}/);
    const { keys } = await answerOf<{ keys: { prefix: string; workspace: string }[] }>(
      env,
      'key',
      'list',
      '--workspace',
      'other',
    );
    expect(keys).toMatchObject([{ prefix, workspace: 'other', state: 'live' }]);
  });

  it.each(['prefix', 'id'] as const)('revokes a key by its %s, once', async (by) => {
    const created = await answerOf<KeyDocument>(env, 'key', 'create', '--workspace', 'acme');
    expect(await caller(created.key)).not.toBeNull();
    const unasked = await runAdmin(env, 'key', 'revoke', created[by]);
    expect([unasked.code, unasked.error]).toEqual([1, expect.stringContaining('repeat it with --yes')]);
    expect((await runAdmin(env, 'key', 'revoke', created[by], '--yes')).code).toBe(0);
    expect(await caller(created.key)).toBeNull();
    expect(await runAdmin(env, 'key', 'revoke', created[by], '--yes')).toEqual({
      code: 1,
      out: '',
      error: expect.stringMatching(`^error: There is no live key "${created[by]}"\\.`),
    });
  });

  it('shows the key’s text first, for people', async () => {
    const { out } = await runAdmin(env, 'key', 'create', '--workspace', 'acme');
    expect(out).toMatch(/^rk_live_[0-9A-Za-z]{36}\n\nThis is the only time the key is shown\./);
  });

  it('signs a token that the gateway’s settings verify', async () => {
    const options = ['--workspace', 'acme', '--scopes', 'run', '--ttl-seconds', '60', '--subject', 'ci'];
    const { code, out } = await runAdmin({ ...env, JWT_SECRET: secret }, 'token', 'create', ...options);
    expect(code).toBe(0);
    const { payload } = await jwtVerify(out.trim(), new TextEncoder().encode(secret), {
      issuer: 'model-router',
      audience: 'model-router',
      algorithms: ['HS256'],
    });
    expect(accessTokenClaims.parse(payload)).toEqual({ workspace: workspaceId, scope: 'run', sub: 'ci' });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
  });

  it('needs the secret, and asks for it before the database', async () => {
    const { code, error } = await runAdmin({}, 'token', 'create', '--workspace', 'acme');
    expect(code).toBe(1);
    expect(error).toMatch(/^error: the environment is not usable: JWT_SECRET: [^\n]+\n$/);
  });

  it('gives no credential to a workspace that does not exist', async () => {
    const token = await runAdmin({ ...env, JWT_SECRET: secret }, 'token', 'create', '--workspace', 'nobody');
    expect(token).toEqual({ code: 1, out: '', error: 'error: There is no workspace "nobody".\n' });
    const key = await runAdmin(env, 'key', 'create', '--workspace', 'nobody');
    expect(key).toEqual(token);
  });
});

failOnLeftovers();
