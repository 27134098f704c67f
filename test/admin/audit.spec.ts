import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { costMicros, failed, RunMaker, succeeded } from './finished-runs.js';
import { ownDatabase } from './own-database.js';
import { answerOf, runAdmin } from './run-admin.js';

interface Actions {
  actions: { actor: string; action: string; subject: string; workspace?: string; details: object }[];
}

const { env, database } = await ownDatabase();
const maker = new RunMaker(database);
const audit = async (...words: string[]) => (await answerOf<Actions>(env, 'audit', ...words)).actions;
const refusal = async (...words: string[]) => {
  const { code, out, error } = await runAdmin(env, ...words);
  expect([code, out]).toEqual([1, '']);
  return error;
};

describe('admin audit and credits refund', () => {
  let workspaceId: string;

  beforeAll(async () => {
    ({ id: workspaceId } = await answerOf<{ id: string }>(env, 'workspace', 'create', 'acme'));
  });

  const call = () => ({ workspaceId, credential: 'token:ci' });

  it('every command that changes something records the name in --as, with the user and the host', async () => {
    const waiting = await maker.admit(call());
    const billed = await maker.made(
      { ...call(), webhook: { url: 'https://example.com/', receiver: 'example.com', form: 'standard' } },
      succeeded,
    );
    const { prefix } = await answerOf<{ prefix: string }>(env, 'key', 'create', '--workspace', 'acme');
    const next = await answerOf<{ prefix: string }>(env, 'key', 'rotate', prefix, '--as', 'Zoë M.');
    await database.work.query(`INSERT INTO publisher (id, status) VALUES ('press', 'PublisherStatusActive')`);
    const of = ['--workspace', 'acme'];
    const changes: [action: string, ...words: string[]][] = [
      ['workspace.create', 'workspace', 'create', 'brief'],
      ['workspace.change', 'workspace', 'set', 'acme', '--markup', '2'],
      ['workspace.change', 'workspace', 'limits', 'acme', '--inflight', '9'],
      ['workspace.change', 'credits', 'add', 'acme', '--cents', '5'],
      ['workspace.delete', 'workspace', 'delete', 'brief'],
      ['budget.set', 'budget', 'set', 'daily', ...of, '--window', 'day', '--cents', '100'],
      ['budget.delete', 'budget', 'delete', 'daily', ...of],
      ['key.create', 'key', 'create', ...of],
      ['key.rotate', 'key', 'rotate', next.prefix, '--keep-hours', '1'],
      ['key.revoke', 'key', 'revoke', prefix],
      ['sign_in.create', 'key', 'sign-in', ...of],
      ['run.cancel', 'run', 'cancel', waiting.runId],
      ['webhook.redeliver', 'webhook', 'redeliver', billed.runId],
      ['webhook.redeliver', 'run', 'retry-delivery', billed.runId],
      ['webhook.rotate_secret', 'webhook', 'secret', 'rotate', ...of],
      ['provider.pause', 'provider', 'pause', 'bfl'],
      ['provider.resume', 'provider', 'resume', 'bfl'],
      ['run.refund', 'credits', 'refund', billed.runId],
      ['publisher.ban', 'registry', 'ban', 'press', '--publisher'],
      ['publisher.unban', 'registry', 'unban', 'press', '--publisher'],
      ['restore.runs', 'restore', 'runs'],
    ];
    for (const [action, ...words] of changes) {
      await answerOf(env, ...words, '--as', 'Zoë M.', '--yes');
      const [newest] = await audit('--limit', '1');
      expect([words.join(' '), newest?.action]).toEqual([words.join(' '), action]);
      expect(newest?.actor).toMatch(/^Zoë M\. via admin:.+@.+$/);
    }
    expect(await audit('--actor', 'zoë')).toHaveLength(changes.length + 1);
    const workspaces = (await audit('--workspace', 'acme')).map(({ action }) => action);
    expect(workspaces).toEqual(
      expect.arrayContaining(['run.cancel', 'run.refund', 'webhook.redeliver', 'key.create']),
    );
    expect(workspaces).not.toContain('provider.pause');
  });

  it('ADMIN_ACTOR names the person, and --as overrides it', async () => {
    const named = { ...env, ADMIN_ACTOR: 'alice' };
    await answerOf(named, 'provider', 'pause', 'vidu');
    await answerOf(named, 'provider', 'resume', 'vidu', '--as', 'bob');
    expect((await audit('--subject', 'vidu')).map(({ actor }) => actor.split(' via admin:')[0])).toEqual([
      'bob',
      'alice',
    ]);
    const bad = await runAdmin({ ...env, ADMIN_ACTOR: 'a\nb' }, 'provider', 'pause', 'vidu');
    expect([bad.code, bad.error]).toEqual([
      1,
      expect.stringMatching(
        /^error: invalid settings: ADMIN_ACTOR: must be 1 to 128 printable characters, .+\n$/,
      ),
    ]);
    const usage = await runAdmin(env, 'provider', 'pause', 'vidu', '--as', 'a\u202Eb');
    expect([usage.code, usage.error]).toEqual([
      2,
      expect.stringContaining('must be 1 to 128 printable characters'),
    ]);
    expect(await audit('--subject', 'vidu')).toHaveLength(2);
  });

  it('lists by action and time, as a table or as JSON, and suggests names', async () => {
    const { out } = await runAdmin(env, 'audit', '--action', 'workspace.create', '--workspace', 'acme');
    const [heading = '', line = '', ...more] = out.trimEnd().split('\n');
    expect(heading).toMatch(/^AT +ACTOR +ACTION +SUBJECT +WORKSPACE +DETAILS$/);
    expect(line).toMatch(/^\d{4}-.+Z +admin:.+@.+ +workspace\.create +acme +acme +\{.+\}$/);
    expect(more).toEqual([]);
    expect(await audit('--until', '2020-01-01')).toEqual([]);
    expect(
      (await audit('--since', '2020-01-01', '--workspace', 'brief')).map(({ action }) => action),
    ).toEqual(['workspace.delete', 'workspace.create']);
    expect(await refusal('audit', '--workspace', 'brif')).toBe(
      'error: There is no workspace "brif". Did you mean "brief"?\n',
    );
    const { code, error } = await runAdmin(env, 'audit', '--action', 'key.crate');
    expect([code, error]).toEqual([2, expect.stringContaining('Did you mean key.create')]);
  });

  it('a refund shows in the run and in the ledger, once', async () => {
    const { id } = await answerOf<{ id: string }>(env, 'workspace', 'create', 'studio');
    const { runId } = await maker.made({ workspaceId: id, credential: 'token:ci' }, succeeded);
    const cents = costMicros / 10_000;
    expect(await answerOf(env, 'run', 'show', runId)).not.toHaveProperty('refunded_cents');
    expect(await answerOf(env, 'credits', 'refund', runId, '--note', 'broken image')).toEqual({
      request_id: runId,
      workspace: 'studio',
      model: 'bfl/flux-2-pro',
      refunded_cents: cents,
      credits_cents: 10_000,
      note: 'broken image',
    });
    expect(await answerOf(env, 'run', 'show', runId)).toMatchObject({
      cost_cents: cents,
      refunded_cents: cents,
      refunded_at: expect.any(String),
    });
    const { entries } = await answerOf<{ entries: object[] }>(env, 'credits', 'list', 'studio');
    expect(entries.slice(0, 2)).toMatchObject([
      { run_id: runId, amount_cents: cents, balance_cents: 10_000, basis: null, note: 'broken image' },
      { run_id: runId, amount_cents: -cents, basis: 'computed' },
    ]);
    expect(await refusal('credits', 'refund', runId)).toBe(
      `error: ${runId}: The run was already refunded.\n`,
    );
  });

  it('refuses to refund a run that is live, was not billed, or is unknown', async () => {
    const live = await maker.admit(call());
    const free = await maker.made(call(), failed('provider_error', 502));
    expect(await refusal('credits', 'refund', live.runId)).toContain('The run has not ended.');
    expect(await refusal('credits', 'refund', free.runId)).toContain('The run was not billed.');
    expect(await refusal('credits', 'refund', v7())).toContain('There is no such run');
    expect((await runAdmin(env, 'credits', 'refund', 'x')).code).toBe(2);
    await answerOf(env, 'run', 'cancel', live.runId, '--yes');
  });
});
