import { ApiKeyRepository, AttemptRepository, CallRepository, RefusedCallRepository } from '#persistence';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { failed, RunMaker, succeeded } from './finished-runs.js';
import { ownDatabase } from './own-database.js';
import { answerOf, exportedLines, runAdmin } from './run-admin.js';

interface Runs {
  runs: { request_id: string; status: string }[];
}

const { env, database } = await ownDatabase();
const maker = new RunMaker(database);
const actions = (subject: string) =>
  database.reads.query<{ actor: string; action: string }>(
    'SELECT actor, action FROM operator_action WHERE subject = $1 ORDER BY id',
    [subject],
  );
const tell = (text: string) => database.work.query(text);
const refusal = async (...words: string[]) => {
  const { code, out, error } = await runAdmin(env, ...words);
  expect([code, out]).toEqual([1, '']);
  return error;
};

describe('admin run, usage, provider and key', () => {
  let workspaceId: string;
  const runs: Record<'done' | 'broken' | 'waiting', string> = { done: '', broken: '', waiting: '' };

  beforeAll(async () => {
    ({ id: workspaceId } = await answerOf<{ id: string }>(env, 'workspace', 'create', 'acme'));
    const call = { workspaceId, credential: 'token:ci' };
    runs.done = (await maker.made(call, succeeded)).runId;
    runs.broken = (await maker.made(call, failed('provider_error', 502))).runId;
    runs.waiting = (await maker.admit(call)).runId;
  });

  it('lists the runs of a workspace, newest first, and failed runs of all workspaces', async () => {
    const { runs: all } = await answerOf<Runs>(env, 'run', 'list', '--workspace', 'acme');
    expect(all.map(({ request_id }) => request_id)).toEqual([runs.waiting, runs.broken, runs.done]);
    const ended = ['--workspace', 'acme', '--status', 'COMPLETED', '--error-type', 'provider_error'];
    expect((await answerOf<Runs>(env, 'run', 'list', ...ended)).runs).toMatchObject([
      { request_id: runs.broken },
    ]);
    expect((await answerOf<Runs>(env, 'run', 'list', '--failed')).runs).toMatchObject([
      { request_id: runs.broken, workspace: { name: 'acme' }, error_type: 'provider_error' },
    ]);
    expect((await answerOf<Runs>(env, 'run', 'list', '--stuck')).runs).toEqual([]);
    expect(await refusal('run', 'list')).toContain('--workspace <name>, --stuck or --failed');
  });

  it.each([
    ['--stuck', '--model', 'bfl/flux-2-pro'],
    ['--failed', '--model', 'bfl/flux-2-pro'],
    ['--stuck', '--status', 'COMPLETED'],
    ['--failed', '--status', 'COMPLETED'],
    ['--stuck', '--error-type', 'provider_error'],
    ['--stuck', '--hours', '2'],
    ['--workspace', 'acme', '--hours', '2'],
  ])('rejects a filter that does not apply: %s %s %s', async (...words) => {
    const { code, out, error } = await runAdmin(env, 'run', 'list', ...words);
    expect([code, out]).toEqual([2, '']);
    expect(error).toContain('cannot be used with option');
  });

  it('shows any run of any workspace', async () => {
    expect(await answerOf(env, 'run', 'show', runs.broken)).toMatchObject({
      request_id: runs.broken,
      workspace: { id: workspaceId, name: 'acme' },
      status: 'COMPLETED',
      stage: 'completed',
      error_type: 'provider_error',
      cost_cents: 0,
    });
    const { out } = await runAdmin(env, 'run', 'show', runs.broken);
    for (const line of ['workspace +acme', 'error type +provider_error', 'webhook +-'])
      expect(out).toMatch(new RegExp(`^${line}$`, 'm'));
    expect(await refusal('run', 'show', v7())).toContain('There is no run');
  });

  it('shows why a call was refused', async () => {
    const callId = v7();
    await new RefusedCallRepository(database).note([
      {
        callId,
        workspaceId,
        agoMs: 0,
        route: 'POST /v2/models/{provider}/{model}/requests',
        status: 422,
        bucket: 'invalid_input',
        model: 'bfl/flux-2-pro',
        detail: 'The model does not accept this input.',
        fields: [{ name: 'body.prompt', type: 'missing' }],
      },
    ]);
    expect(await answerOf(env, 'run', 'show', callId)).toMatchObject({
      refusal: { request_id: callId, status: 422, workspace: { id: workspaceId, name: 'acme' } },
    });
    const { out } = await runAdmin(env, 'run', 'show', callId);
    for (const line of ['The call was refused .*', 'workspace +acme', 'fields +body.prompt \\(missing\\)'])
      expect(out).toMatch(new RegExp(`^${line}$`, 'm'));
    expect(await refusal('run', 'cancel', callId)).toContain('There is no run');
  });

  it('shows which provider calls of a run failed, why, and the state of the run at its provider', async () => {
    const runId = runs.waiting;
    const attempt = {
      provider: 'bfl',
      phase: 'submit',
      status: 429,
      class: 'provider_unavailable',
      retry: 'new_submit',
      reading: 'It is busy.',
      requestId: 'req-1',
      reply: '{"error":\n\u001b[31m"busy"}',
      count: 2,
      firstAgoMs: 0,
      lastAgoMs: 0,
    } as const;
    await new AttemptRepository(database).note([{ runId, leftOut: 5, attempts: [attempt] }]);
    expect(await answerOf(env, 'run', 'show', runId)).toMatchObject({
      provider: 'bfl',
      crashes: 0,
      attempts: 0,
      pauses: [],
      call_id: expect.any(String),
      provider_attempts: [
        { phase: 'submit', status: 429, count: 2, provider_request_id: 'req-1', reply: attempt.reply },
      ],
      provider_attempts_left_out: 5,
    });
    const { out } = await runAdmin(env, 'run', 'show', runId);
    expect(out).toMatch(/^provider attempts \(5 further calls/m);
    expect(out).toMatch(
      /^ {2}\S+Z {2}submit at bfl: HTTP 429, provider_unavailable, retry new_submit, 2 times until \S+Z$/m,
    );
    expect(out).toMatch(/^ {4}It is busy\.$/m);
    expect(out).toMatch(/^ {4}provider's request id: req-1$/m);
    // A provider's reply cannot change the operator's terminal.
    expect(out).toMatch(/^ {4}reply: \{"error": \[31m"busy"\}$/m);
    expect((await runAdmin(env, 'run', 'show', runs.done)).out).not.toContain('provider attempts');
  });

  it('cancels a run with --yes, and says so in the record', async () => {
    expect(await refusal('run', 'cancel', runs.waiting)).toContain('Repeat the command with --yes');
    expect(await answerOf(env, 'run', 'cancel', runs.waiting, '--yes')).toMatchObject({ found: 'waiting' });
    expect(await refusal('run', 'cancel', runs.waiting, '--yes')).toContain('is already completed');
    expect(await actions(runs.waiting)).toEqual([
      { actor: expect.stringMatching(/^admin:.+@.+$/), action: 'run.cancel' },
    ]);
    expect(await refusal('run', 'retry-delivery', runs.done)).toContain('no webhook');
  });

  it('adds up usage by day, model or key', async () => {
    expect(await answerOf(env, 'usage', '--workspace', 'acme', '--by', 'model')).toEqual({
      workspace: 'acme',
      by: 'model',
      groups: [{ model: 'bfl/flux-2-pro', runs: 3, succeeded: 1, cost_cents: expect.any(Number) }],
      total: { runs: 3, succeeded: 1, cost_cents: expect.any(Number) },
    });
    const by = async (group: string) =>
      (await answerOf<{ groups: unknown[] }>(env, 'usage', '--workspace', 'acme', '--by', group)).groups;
    expect(await by('key')).toEqual([{ runs: 3, succeeded: 1, cost_cents: expect.any(Number) }]);
    expect(await by('day')).toMatchObject([{ day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), runs: 3 }]);
  });

  it('lists every provider, and pauses only known ones', async () => {
    const { providers } = await answerOf<{ providers: { provider: string }[] }>(env, 'provider', 'list');
    expect(providers.length).toBeGreaterThan(30);
    expect(providers).toContainEqual(
      expect.objectContaining({
        provider: 'bfl',
        has_key: null,
        last_day: expect.objectContaining({ requests: 3, succeeded: 1 }),
      }),
    );
    expect(await refusal('provider', 'pause', 'nosuch')).toBe('error: There is no provider "nosuch".\n');
    expect(await refusal('provider', 'resume', 'runwy')).toContain('Did you mean "runway"');
    expect(await refusal('provider', 'pause', 'blf')).toBe(
      'error: There is no provider "blf". Did you mean "bfl"?\n',
    );
    await answerOf(env, 'provider', 'pause', 'bfl', '--reason', 'test');
    await answerOf(env, 'provider', 'resume', 'bfl');
    expect((await actions('bfl')).map(({ action }) => action)).toEqual(['provider.pause', 'provider.resume']);
  });

  it('suggests similar workspaces, models and keys', async () => {
    expect(await refusal('workspace', 'show', 'acne')).toBe(
      'error: There is no workspace "acne". Did you mean "acme"?\n',
    );
    expect(await refusal('registry', 'ban', 'nosuch')).toBe('error: There is no node "nosuch".\n');
    expect(await refusal('run', 'list', '--workspace', 'acme', '--model', 'bfl/flux-2-prp')).toContain(
      '"bfl/flux-2-pro"',
    );
    expect(await refusal('workspace', 'set', 'acme', '--runnable', 'bfl/flux-2-prp')).toContain(
      '"bfl/flux-2-pro"',
    );
  });

  it('rotates a key: the new one has the same rights, and the old one ends later or at once', async () => {
    const made = await answerOf<{ key: string; prefix: string }>(
      env,
      'key',
      'create',
      '--workspace',
      'acme',
      '--scopes',
      'run',
      '--name',
      'web',
    );
    const keys = new ApiKeyRepository(database);
    const rotate = (...words: string[]) =>
      answerOf<{ key: string; name: string; scopes: string[]; replaces: { expires_at: string } }>(
        env,
        'key',
        'rotate',
        made.prefix,
        ...words,
      );
    const next = await rotate('--keep-hours', '2');
    expect(next).toMatchObject({ name: 'web', scopes: ['run'] });
    const endsInMs = Date.parse(next.replaces.expires_at) - Date.now();
    expect(Math.abs(endsInMs - 7_200_000)).toBeLessThan(120_000);
    expect([await keys.byApiKey(made.key), await keys.byApiKey(next.key)]).not.toContain(null);
    const { id } = await answerOf<{ id: string }>(env, 'workspace', 'show', 'acme');
    const old = await keys.find(made.prefix);
    const below = await keys.create(
      id,
      { name: 'below', scopes: ['run'], expiresAt: null },
      { actor: 'test', keyId: old?.id ?? null },
    );
    const again = await runAdmin(env, 'key', 'rotate', made.prefix);
    expect(again.out).toContain(`It expires at ${next.replaces.expires_at}.\n`);
    await expect(rotate('--keep-hours', '0')).rejects.toThrow('Repeat the command with --yes');
    await rotate('--keep-hours', '0', '--yes');
    expect(await keys.byApiKey(made.key)).toBeNull();
    // The child key belongs to the key that replaced its maker.
    expect(await keys.byApiKey(below.key)).not.toBeNull();
    expect(await refusal('key', 'revoke', `${made.prefix.slice(0, -1)}!`)).toMatch(/Did you mean "rk_live_/);
  });

  it('deletes a workspace without live runs, and keeps the cost of its runs', async () => {
    const { id } = await answerOf<{ id: string }>(env, 'workspace', 'create', 'gone');
    const live = await maker.admit({ workspaceId: id, credential: 'token:ci' });
    await answerOf(env, 'key', 'create', '--workspace', 'gone');
    expect(await refusal('workspace', 'delete', 'gone')).toContain('--yes');
    expect(await refusal('workspace', 'delete', 'gone', '--yes')).toContain('has live runs');
    await maker.end(live, succeeded);
    expect(await answerOf(env, 'workspace', 'delete', 'gone', '--yes')).toEqual({ deleted: 'gone', id });
    expect(await refusal('workspace', 'show', 'gone')).toContain('There is no workspace "gone".');
    const [, line, ...others] = await exportedLines(env, ['--workspace', 'gone']);
    expect([line?.split(',').slice(1, 3), others]).toEqual([[live.runId, 'gone'], []]);
    expect((await exportedLines(env, [])).join('\n')).toContain(`${live.runId},gone`);
    expect(await answerOf(env, 'usage', 'list', '--workspace', id)).toMatchObject({
      workspace: 'gone',
      runs: 1,
    });
    expect(await refusal('usage', 'export', '--workspace', 'gome')).toContain(
      'There is no workspace "gome". Did you mean "gone"',
    );
  });

  it('asks for an id if several deleted workspaces had the name', async () => {
    const ids: string[] = [];
    for (let nth = 1; nth <= 2; nth += 1) {
      const { id } = await answerOf<{ id: string }>(env, 'workspace', 'create', 'twice');
      await maker.made({ workspaceId: id, credential: 'token:ci' }, succeeded);
      await answerOf(env, 'workspace', 'delete', 'twice', '--yes');
      ids.push(id);
    }
    for (const words of [['list'], ['summary', '--by', 'model']]) {
      const error = await refusal('usage', ...words, '--workspace', 'twice');
      expect(error).toContain(`2 deleted workspaces had the name "twice". Use the id of one: `);
      expect(ids.filter((id) => !error.includes(id))).toEqual([]);
      for (const id of ids) await answerOf(env, 'usage', ...words, '--workspace', id);
    }
    const [, ...lines] = await exportedLines(env, ['--workspace', 'twice']);
    expect(lines).toHaveLength(2);
  });

  it('makes no change that it cannot record', async () => {
    const { id } = await answerOf<{ id: string }>(env, 'workspace', 'create', 'full');
    const { prefix } = await answerOf<{ prefix: string }>(env, 'key', 'create', '--workspace', 'full');
    const { runId } = await maker.admit({ workspaceId: id, credential: 'token:ci' });
    await tell('ALTER TABLE operator_action ADD CONSTRAINT full_up CHECK (false) NOT VALID');
    for (const words of [
      ['workspace', 'create', 'unrecorded'],
      ['workspace', 'create', 'unrecorded', '--credits-cents', 'unlimited'],
      ['key', 'revoke', prefix],
      ['key', 'rotate', prefix],
      ['run', 'cancel', runId],
      ['webhook', 'secret', 'rotate', '--workspace', 'full'],
    ])
      expect(await refusal(...words, '--yes')).toContain('full_up');
    await tell('ALTER TABLE operator_action DROP CONSTRAINT full_up');
    expect(await refusal('workspace', 'show', 'unrecorded')).toContain('There is no workspace "unrecorded".');
    const { keys } = await answerOf<{ keys: { prefix: string }[] }>(
      env,
      'key',
      'list',
      '--workspace',
      'full',
    );
    expect(keys).toMatchObject([{ prefix, state: 'live' }]);
    expect(await answerOf(env, 'run', 'show', runId)).toMatchObject({ status: 'IN_QUEUE' });
    await answerOf(env, 'run', 'cancel', runId, '--yes');
  });

  it('shows a run by the id of a call that admitted or joined it', async () => {
    const call = { workspaceId, credential: 'token:ci' };
    const ended = await maker.made(call, succeeded);
    const live = await maker.admit(call);
    const joining = v7();
    await new CallRepository(database).noteJoin(workspaceId, ended.runId, joining);
    for (const [id, runId] of [
      [ended.requestId, ended.runId],
      [joining, ended.runId],
      [live.requestId, live.runId],
    ] as const)
      expect(await answerOf(env, 'run', 'show', id)).toMatchObject({ request_id: runId });
    expect(await answerOf(env, 'run', 'cancel', '--yes', live.requestId)).toMatchObject({
      request_id: live.runId,
    });
  });
});
