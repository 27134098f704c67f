import { CallRepository, WebhookRepository } from '#persistence';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { v7 } from 'uuid';
import { failed, RunMaker, succeeded } from './finished-runs.js';
import { ownDatabase } from './own-database.js';
import { answerOf, runAdmin } from './run-admin.js';

const called = (problem?: string) => ({
  at: '2026-01-02T03:04:05.678Z',
  durationMs: 40,
  ...(problem !== undefined && { problem }),
  payload: '{}',
});

interface Listed {
  webhooks: Record<string, unknown>[];
}

const url = 'https://hooks.example.com/a';
const idsOf = (all: Listed['webhooks']) => all.map(({ request_id }) => request_id);

const { env, database } = await ownDatabase();
const webhooks = new WebhookRepository(database, { RESULT_RETENTION_SECONDS: 86_400 });
const listed = async (...options: string[]) =>
  (await answerOf<Listed>(env, 'webhook', 'list', ...options)).webhooks;

describe('admin webhook', () => {
  /** The HTTP calls that admitted the runs. */
  const calls = new Map<string, string>();
  const runs: Record<'delivered' | 'givenUp' | 'other', string> = { delivered: '', givenUp: '', other: '' };

  beforeAll(async () => {
    const maker = new RunMaker(database);
    const ended = async (workspaceId: string, ending = succeeded) => {
      const call = {
        workspaceId,
        credential: 'token:x',
        webhook: { url, receiver: url, form: 'standard' },
      } as const;
      const { runId, requestId } = await maker.made(call, ending);
      calls.set(runId, requestId);
      return runId;
    };
    const [acme, other] = await Promise.all(
      ['acme', 'other'].map((name) => answerOf<{ id: string }>(env, 'workspace', 'create', name)),
    );
    runs.delivered = await ended(acme?.id ?? '');
    runs.givenUp = await ended(acme?.id ?? '', failed('provider_error', 502));
    runs.other = await ended(other?.id ?? '');
    await webhooks.delivered({ runId: runs.delivered, redeliveries: 0 }, called());
    await webhooks.failed(
      { runId: runs.givenUp, tries: 0, redeliveries: 0 },
      called('answered HTTP 500'),
      null,
    );
  });

  it('are explained by their run', async () => {
    expect(await answerOf(env, 'run', 'show', runs.givenUp)).toMatchObject({
      webhook: {
        state: 'given_up',
        url,
        attempts: [{ at: called().at, duration_ms: 40, problem: 'answered HTTP 500' }],
      },
    });
    const { out } = await runAdmin(env, 'run', 'show', runs.givenUp);
    expect(out).toMatch(/^webhook +given_up$/m);
    expect(out).toContain(
      `webhook attempts at ${url}\n  ${called().at}  no answer after 40 ms: answered HTTP 500\n`,
    );
    expect(JSON.stringify(await answerOf(env, 'run', 'show', runs.givenUp))).not.toContain('payload');
  });

  it('lists webhooks, newest first, and filters by workspace, state and number', async () => {
    expect(idsOf(await listed())).toEqual([runs.other, runs.givenUp, runs.delivered]);
    expect(idsOf(await listed('--workspace', 'acme'))).toEqual([runs.givenUp, runs.delivered]);
    expect(idsOf(await listed('--state', 'pending'))).toEqual([runs.other]);
    expect(idsOf(await listed('--limit', '1'))).toEqual([runs.other]);
    expect(await listed('--workspace', 'acme', '--state', 'given_up')).toEqual([
      {
        request_id: runs.givenUp,
        workspace: 'acme',
        model: 'bfl/flux-2-pro',
        error_type: 'provider_error',
        url,
        form: 'standard',
        state: 'given_up',
        tries: 1,
        problem: 'answered HTTP 500',
        created_at: expect.any(String),
        ended_at: expect.any(String),
      },
    ]);
  });

  it('prints a table for people', async () => {
    const { out } = await runAdmin(env, 'webhook', 'list', '--state', 'given_up');
    expect(out).toMatch(/^REQUEST +WORKSPACE +MODEL +STATE +ATTEMPTS +DUE +PROBLEM +URL\n/);
    expect(out).toContain(`answered HTTP 500  ${url}`);
  });

  it('redelivers a webhook that was given up, with all its attempts', async () => {
    expect(await webhooks.begin(runs.givenUp)).toBeNull();
    const answer = await answerOf(env, 'webhook', 'redeliver', runs.givenUp);
    expect(answer).toEqual({ request_id: runs.givenUp, state: 'pending' });
    expect(await webhooks.begin(runs.givenUp)).toMatchObject({ tries: 0, url });
  });

  it('redelivers the webhook of a run by the id of a call that admitted or joined it', async () => {
    const [acme] = await database.work.query<{ id: string }>(`SELECT id FROM workspace WHERE name = 'acme'`);
    const joining = v7();
    await new CallRepository(database).noteJoin(acme?.id ?? '', runs.givenUp, joining);
    for (const words of [
      ['webhook', 'redeliver', calls.get(runs.givenUp) ?? ''],
      ['run', 'retry-delivery', joining],
    ])
      expect(await answerOf(env, ...words)).toEqual({ request_id: runs.givenUp, state: 'pending' });
    const actions = await database.work.query(
      `SELECT subject, details FROM operator_action WHERE action = 'webhook.redeliver' ORDER BY id DESC LIMIT 2`,
    );
    const recorded = { subject: runs.givenUp, details: { workspace: 'acme' } };
    expect(actions).toEqual([recorded, recorded]);
  });

  it('reports an unknown webhook, and rejects a malformed request id or state', async () => {
    const unknown = '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234';
    const none = await runAdmin(env, 'webhook', 'redeliver', unknown);
    expect([none.code, none.error]).toEqual([
      1,
      expect.stringContaining(`The run ${unknown} has no webhook`),
    ]);
    for (const words of [
      ['redeliver', 'x'],
      ['list', '--state', 'lost'],
      ['list', '--limit', '0'],
    ])
      expect((await runAdmin(env, 'webhook', ...words)).code).toBe(2);
  });

  it('shows the secret of a workspace, and rotates it while the former one keeps signing', async () => {
    const secret = async (...act: string[]) =>
      (await answerOf<{ secret: string }>(env, 'webhook', 'secret', ...act, '--workspace', 'acme')).secret;
    const before = await secret('show');
    expect(before).toMatch(/^whsec_/);
    await expect(secret('rotate')).rejects.toThrow('Repeat the command with --yes');
    const after = await secret('rotate', '--yes');
    expect(after).not.toBe(before);
    expect(await secret('show')).toBe(after);
    await webhooks.redeliver(runs.delivered);
    expect((await webhooks.begin(runs.delivered))?.secrets).toEqual([after, before]);
    expect((await runAdmin(env, 'webhook', 'secret', 'show', '--workspace', 'nobody')).code).toBe(1);
  });
});
