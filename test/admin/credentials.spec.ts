import { ApiKeyRepository } from '#persistence';
import { accessTokenClaims } from '#schemas';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { jwtVerify } from 'jose';
import { ownDatabase } from './own-database.js';
import { answerOf, runAdmin } from './run-admin.js';

interface KeyDocument {
  id: string;
  key: string;
  prefix: string;
  expires_at?: string;
}

const secret = 'a-secret-of-more-than-32-characters-for-tests';
const dayMs = 24 * 60 * 60 * 1000;

const { env, database } = await ownDatabase();
const caller = (key: string) => new ApiKeyRepository(database).byApiKey(key);

describe('admin key and token', () => {
  let workspaceId: string;

  beforeAll(async () => {
    ({ id: workspaceId } = await answerOf<{ id: string }>(env, 'workspace', 'create', 'acme'));
    await answerOf(env, 'workspace', 'create', 'other');
  });

  it('creates a key whose workspace and scopes the gateway can look up', async () => {
    const { key, expires_at } = await answerOf<KeyDocument>(env, 'key', 'create', '--workspace', 'acme');
    expect(await caller(key)).toMatchObject({ workspaceName: 'acme', scopes: ['catalog', 'run'] });
    expect(expires_at).toBeUndefined();
  });

  it('creates a key with fewer scopes and an expiry', async () => {
    const options = ['--workspace', 'acme', '--scopes', 'catalog', '--expires-days', '3', '--name', 'reader'];
    const before = Date.now();
    const { key, expires_at } = await answerOf<KeyDocument>(env, 'key', 'create', ...options);
    const after = Date.now();
    expect(await caller(key)).toMatchObject({ scopes: ['catalog'] });
    const madeMs = Date.parse(expires_at ?? '') - 3 * dayMs;
    expect(madeMs).toBeGreaterThanOrEqual(before);
    expect(madeMs).toBeLessThanOrEqual(after);
  });

  it('creates a key with tags, which its replacement keeps', async () => {
    const words = ['key', 'create', '--workspace', 'acme', '--tag', 'project=alpha', '--tag', 'team=a=b'];
    const tags = { project: 'alpha', team: 'a=b' };
    const made = await answerOf<KeyDocument & { tags: object }>(env, ...words);
    expect(made.tags).toEqual(tags);
    expect(await caller(made.key)).toMatchObject({ tags });
    expect((await runAdmin(env, 'key', 'list')).out).toContain('project=alpha,team=a=b');
    const { key } = await answerOf<KeyDocument>(env, 'key', 'rotate', made.prefix);
    expect(await caller(key)).toMatchObject({ tags });
    for (const [tag, says] of [
      ['project', 'Expected a tag such as project=alpha'],
      ['team=c', 'given twice'],
    ])
      expect(await runAdmin(env, ...words, '--tag', tag ?? '')).toMatchObject({
        code: 2,
        error: expect.stringContaining(says ?? ''),
      });
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
    expect([unasked.code, unasked.error]).toEqual([
      1,
      expect.stringContaining('Repeat the command with --yes'),
    ]);
    expect((await runAdmin(env, 'key', 'revoke', created[by], '--yes')).code).toBe(0);
    expect(await caller(created.key)).toBeNull();
    expect(await runAdmin(env, 'key', 'revoke', created[by], '--yes')).toEqual({
      code: 1,
      out: '',
      error: expect.stringMatching(`^error: There is no live key "${created[by]}"\\.`),
    });
  });

  it('revokes everything that a key made, and prints the number', async () => {
    const { key, id } = await answerOf<KeyDocument>(
      env,
      'key',
      'create',
      '--workspace',
      'acme',
      '--scopes',
      'run,manage',
    );
    const keys = new ApiKeyRepository(database);
    const by = { actor: `key:${id}`, keyId: id };
    const facts = { name: 'below', scopes: ['run'], expiresAt: null };
    const below = await keys.create(workspaceId, facts, by);
    const { row } = await keys.createCode(workspaceId, ['run'], by);
    const list = ['key', 'list', '--workspace', 'acme', '--limit', '2'];
    expect(await answerOf(env, ...list)).toMatchObject({
      keys: [
        { id: row.id, kind: 'code', made_by: id },
        { id: below.row.id, kind: 'key', made_by: id, name: 'below' },
      ],
      next_before: below.row.id,
    });
    const next = await answerOf<{ keys: object[] }>(env, ...list, '--before', below.row.id);
    expect(next.keys[0]).toMatchObject({ id });
    expect(await answerOf(env, 'key', 'list', '--workspace', 'acme', '--kind', 'code')).toMatchObject({
      keys: [{ id: row.id }],
    });
    expect(await answerOf(env, 'key', 'revoke', id, '--yes')).toEqual({ revoked: id, ended: 3 });
    expect([await caller(key), await caller(below.key)]).toEqual([null, null]);
  });

  it('rotates only API keys', async () => {
    const { row } = await new ApiKeyRepository(database).createCode(workspaceId, ['run'], { actor: 'test' });
    const { code, error } = await runAdmin(env, 'key', 'rotate', row.id);
    expect([code, error]).toEqual([1, `error: ${row.prefix} is a code. Only API keys can be rotated.\n`]);
  });

  it('revokes everything that a person’s tokens made', async () => {
    const token = { subject: 'alice', expiresAt: new Date(Date.now() + 60_000) };
    const facts = { name: 'of alice', scopes: ['run'], expiresAt: null };
    const made = await new ApiKeyRepository(database).create(workspaceId, facts, {
      actor: 'token:alice',
      token,
    });
    const { out } = await runAdmin(env, 'key', 'list', '--workspace', 'acme', '--limit', '1');
    expect(out).toMatch(/token:alice\nThere are more\. Continue with --before [0-9a-f-]{36}\n$/);
    const typo = await runAdmin(env, 'key', 'revoke-made-by', 'alcie', '--workspace', 'acme', '--yes');
    expect(typo.error).toBe('error: There is no subject "alcie". Did you mean "alice"?\n');
    const revoke = ['key', 'revoke-made-by', 'alice', '--workspace', 'acme', '--yes'];
    expect(await answerOf(env, ...revoke)).toMatchObject({ ended: 1 });
    expect(await caller(made.key)).toBeNull();
  });

  it('creates a link that signs in to the console, as an operator only on request', async () => {
    const link = async (...options: string[]) => {
      const { url, code, scopes } = await answerOf<{ url: string; code: string; scopes: string[] }>(
        env,
        'key',
        'sign-in',
        '--workspace',
        'acme',
        '--url',
        'https://router.example.com/',
        ...options,
      );
      expect(url).toBe(`https://router.example.com/console/#code=${code}`);
      const session = await new ApiKeyRepository(database).exchange(code);
      expect(session?.row).toMatchObject({ kind: 'session', scopes, madeBy: null });
      return scopes;
    };
    expect(await link()).toEqual(['catalog', 'run', 'requests', 'usage', 'workspace', 'provider_keys']);
    expect(await link('--scopes', 'workspace,operate')).toEqual(['workspace', 'operate']);
    const bad = await runAdmin(env, 'key', 'sign-in', '--workspace', 'acme', '--url', 'javascript:x');
    expect([bad.code, bad.error]).toEqual([2, expect.stringContaining('http or https URL')]);
  });

  it('creates a customer’s workspace, first key and link in one command, and further links', async () => {
    interface Link {
      url: string;
      code: string;
      scopes: string[];
      key: KeyDocument;
    }
    const named = ['--url', 'https://router.example.com'];
    const opened = await answerOf<Link>(
      env,
      'link',
      'customer',
      '--create',
      '--credits-cents',
      '7',
      ...named,
    );
    expect(opened.url).toBe(`https://router.example.com/console/#code=${opened.code}`);
    expect(await caller(opened.key.key)).toMatchObject({ workspaceName: 'customer', scopes: opened.scopes });
    expect(await answerOf(env, 'workspace', 'show', 'customer')).toMatchObject({ credits_cents: 7 });
    const more = await answerOf<Link>(env, 'link', 'customer', '--key', opened.key.prefix, ...named);
    const keys = new ApiKeyRepository(database);
    expect((await keys.exchange(more.code))?.row).toMatchObject({ madeBy: opened.key.id });
    await answerOf(env, 'key', 'revoke', opened.key.prefix, '--yes');
    expect(await keys.exchange(opened.code)).toBeNull();

    const refused = async (...words: string[]) => (await runAdmin(env, 'link', ...words, ...named)).error;
    expect(await refused('customer', '--create')).toContain('There is already a workspace "customer".');
    expect(await refused('custmer')).toContain('Did you mean "customer"?');
    expect(await refused('customer', '--key', opened.key.prefix)).toContain('There is no live key');
    expect(await refused('customer', '--scopes', 'operate')).toContain('"key sign-in"');
    expect(await refused('customer', '--key-name', 'x')).toContain('need --create');
  });

  it('prints a link first, and how to end it, for people', async () => {
    const { out } = await runAdmin(env, 'link', 'acme', '--hours', '1', '--url', 'http://r');
    expect((await runAdmin(env, 'link', 'acme')).error).toContain('--url or PUBLIC_BASE_URL');
    expect(out).toMatch(
      /^http:\/\/r\/console\/#code=rk_live_\w{36}\n\nIt works once, until \S+\. "key revoke rk_live_\w{8}" ends it/,
    );
  });

  it('prints the key’s text first, for people', async () => {
    const { out } = await runAdmin(env, 'key', 'create', '--workspace', 'acme');
    expect(out).toMatch(/^rk_live_[0-9A-Za-z]{36}\n\nThis key is shown only once\./);
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

  it('signs with the first of several secrets', async () => {
    const secrets = `another-secret-of-tests-for-access-tokens,${secret}`;
    const options = ['token', 'create', '--workspace', 'acme'];
    const { out } = await runAdmin({ ...env, JWT_SECRET: secrets }, ...options);
    const [first = ''] = secrets.split(',');
    const { payload } = await jwtVerify(out.trim(), new TextEncoder().encode(first));
    expect(payload['workspace']).toBe(workspaceId);
  });

  it('requires the secret before it connects to the database', async () => {
    const { code, error } = await runAdmin({}, 'token', 'create', '--workspace', 'acme');
    expect(code).toBe(1);
    expect(error).toMatch(/^error: invalid settings: JWT_SECRET: [^\n]+\n$/);
  });

  it('creates no credential for an unknown workspace', async () => {
    const token = await runAdmin({ ...env, JWT_SECRET: secret }, 'token', 'create', '--workspace', 'nobody');
    expect(token).toEqual({ code: 1, out: '', error: 'error: There is no workspace "nobody".\n' });
    const key = await runAdmin(env, 'key', 'create', '--workspace', 'nobody');
    expect(key).toEqual(token);
  });
});
