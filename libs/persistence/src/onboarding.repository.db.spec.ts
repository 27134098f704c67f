import { describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { ApiKeyRepository, type NewCode } from './api-key.repository.js';
import { linkRefusals, OnboardingRepository } from './onboarding.repository.js';
import { SpecDatabase } from './testing/spec-database.js';
import { WorkspaceExists } from './workspace.repository.js';

const file = await SpecDatabase.create();
const { database, workspaces } = file.process();
const keys = new ApiKeyRepository(database);
const onboarding = new OnboardingRepository(database, keys);
const at = (time: string) => new ApiKeyRepository(file.process(time).database);

const scopes = ['catalog', 'run', 'workspace', 'manage'];
const day = 24 * 3600;
const actor = 'alice via admin:1@pod';

const open = (name = `customer-${v7()}`) =>
  onboarding.open(
    {
      name,
      settings: {},
      creditsMicros: 1_000_000,
      key: { name: 'first', scopes, expiresAt: null },
      linkSeconds: day,
    },
    actor,
  );

function made(link: NewCode | { refused: string }): NewCode {
  if ('refused' in link) throw new Error(link.refused);
  return link;
}

describe('a new customer', () => {
  it('gets a workspace, a key and a link that belongs to the key, each recorded', async () => {
    const name = `customer-${v7()}`;
    const { workspaceId, key, link } = await open(name);
    expect(await keys.byApiKey(key.key)).toMatchObject({ workspaceId, scopes });
    expect(link.row).toMatchObject({ kind: 'code', madeBy: key.row.id, scopes });
    const recorded = await database.reads.query(
      `SELECT actor, action FROM operator_action WHERE subject = ANY ($1) ORDER BY id`,
      [[name, key.row.id, link.row.id]],
    );
    expect(recorded).toEqual(
      ['workspace.create', 'key.create', 'sign_in.create'].map((action) => ({ actor, action })),
    );
  });

  it('is created as a whole or not at all, and once per name', async () => {
    const name = `customer-${v7()}`;
    const both = await Promise.allSettled([open(name), open(name)]);
    const refused = both.filter((each) => each.status === 'rejected');
    expect(refused.map(({ reason }) => reason as unknown)).toEqual([expect.any(WorkspaceExists)]);
    const { id } = await workspaces.find(name);
    expect(await keys.list({ workspaceId: id }, { limit: 10 })).toHaveLength(2);
  });
});

describe('a link for a customer', () => {
  it('works for as long as its operator chose, and its session for 12 hours after the sign-in', async () => {
    const { link } = await open();
    expect(await at('25 hours').isCode(link.code)).toBe(false);
    expect(await at('25 hours').exchange(link.code)).toBeNull();
    const session = await at('23 hours').exchange(link.code);
    if (session === null) throw new Error('the link was rejected');
    expect(session.row).toMatchObject({ kind: 'session', scopes });
    expect(await at('34 hours').byApiKey(session.key)).not.toBeNull();
    expect(await at('36 hours').byApiKey(session.key)).toBeNull();
  });

  it('gives one session to many who press at once', async () => {
    const { link } = await open();
    const sessions = await Promise.all(Array.from({ length: 8 }, () => keys.exchange(link.code)));
    expect(sessions.filter((session) => session !== null)).toHaveLength(1);
  });

  it('ends with its key, before and after it is used', async () => {
    const unused = await open();
    await keys.revoke(unused.key.row.id, actor);
    expect(await keys.exchange(unused.link.code)).toBeNull();
    const used = await open();
    const session = await keys.exchange(used.link.code);
    if (session === null) throw new Error('the link was rejected');
    await keys.revoke(used.key.row.id, actor);
    expect(await keys.byApiKey(session.key)).toBeNull();
  });

  it('is stored only as a hash', async () => {
    const { link, key } = await open();
    const [{ text } = { text: '' }] = await database.reads.query<{ text: string }>(
      `SELECT (SELECT string_agg(api_key::text, '') FROM api_key) || (SELECT string_agg(operator_action::text, '') FROM operator_action) AS text`,
    );
    expect(text).toContain(link.row.prefix);
    for (const secret of [link.code, key.key]) expect(text).not.toContain(secret);
  });

  it('has scopes of its key, never `operate`, and without a key belongs to the workspace', async () => {
    const { workspaceId, key } = await open();
    const ask = (facts: { key?: string; scopes?: string[] }) =>
      onboarding.link(workspaceId, { ...facts, linkSeconds: day }, actor);
    expect(made(await ask({ key: key.row.prefix })).row).toMatchObject({ scopes, madeBy: key.row.id });
    expect(made(await ask({})).row).toMatchObject({
      scopes: ['catalog', 'run', 'requests', 'usage', 'workspace', 'provider_keys'],
      madeBy: null,
    });
    const refusals = [
      await ask({ key: key.row.id, scopes: ['usage'] }),
      await ask({ scopes: ['operate'] }),
      await ask({ key: (await open()).key.row.id }),
      await ask({ key: 'rk_live_nobody' }),
    ];
    expect(refusals.map((link) => 'refused' in link && link.refused)).toEqual([
      linkRefusals.lacks_scope,
      linkRefusals.lacks_scope,
      linkRefusals.unknown_key,
      linkRefusals.unknown_key,
    ]);
  });
});
