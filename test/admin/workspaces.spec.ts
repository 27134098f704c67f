import { operatorWorkspace } from '#schemas';
import { describe, expect, it } from '@jest/globals';
import { ownDatabase } from './own-database.js';
import { answerOf, runAdmin } from './run-admin.js';

interface WorkspaceDocument {
  id: string;
  name: string;
  credits_cents: number | null;
}

const { env, database } = await ownDatabase();
const ledger = (workspaceId: string) =>
  database.work.query<{ amount: number; balance: number; note: string }>(
    `SELECT amount_micros::int AS amount, balance_micros::int AS balance, note
     FROM ledger_entry WHERE workspace_id = $1 ORDER BY id`,
    [workspaceId],
  );

describe('admin workspace and credits', () => {
  it('creates a workspace that may see and run everything, with limits and a few credits', async () => {
    const created = await answerOf(env, 'workspace', 'create', 'open');
    expect(operatorWorkspace.parse(created)).toMatchObject({
      name: 'open',
      enabled: true,
      visible: ['**'],
      runnable: ['**'],
      markup: 1,
      limits: {
        inflight: { limit: 20 },
        committed_spend_cents: { limit: 10_000 },
        runs_per_minute: { limit: 600 },
      },
      credits_cents: 10_000,
    });
    expect(await answerOf(env, 'workspace', 'show', 'open')).toEqual(created);
  });

  it('creates a workspace with the given options, and its credits in the ledger', async () => {
    const options = ['--disabled', '--visible', 'bfl/*,fal/*', '--runnable', '', '--credits-cents', '500'];
    const created = await answerOf<WorkspaceDocument>(env, 'workspace', 'create', 'narrow', ...options);
    expect(created).toMatchObject({
      enabled: false,
      visible: ['bfl/*', 'fal/*'],
      runnable: [],
      credits_cents: 500,
    });
    expect(await ledger(created.id)).toEqual([
      { amount: 5_000_000, balance: 5_000_000, note: 'opening credits' },
    ]);
  });

  it('rejects a second workspace with the same name', async () => {
    expect(await runAdmin(env, 'workspace', 'create', 'open')).toEqual({
      code: 1,
      out: '',
      error: 'error: There is already a workspace "open".\n',
    });
  });

  it.each(['a'.repeat(36), '-'.repeat(36), '0198a1c2-7d3e-7f4a-8b5c-6d7e8f901234'])(
    'rejects the unknown workspace %s',
    async (name) => {
      const { code, error } = await runAdmin(env, 'workspace', 'show', '--', name);
      expect(code).toBe(1);
      expect(error).toContain(`There is no workspace "${name}".`);
    },
  );

  it('changes only the given options', async () => {
    expect(await answerOf(env, 'workspace', 'set', 'narrow', '--enabled')).toMatchObject({
      enabled: true,
      visible: ['bfl/*', 'fal/*'],
      runnable: [],
      credits_cents: 500,
    });
  });

  it('sets a mark-up and shows it', async () => {
    await answerOf(env, 'workspace', 'set', 'narrow', '--markup', '1.25');
    expect(await answerOf(env, 'workspace', 'show', 'narrow')).toMatchObject({
      name: 'narrow',
      markup: 1.25,
    });
    const { code, error } = await runAdmin(env, 'workspace', 'set', 'narrow', '--markup', '-1');
    expect([code === 0, error]).toEqual([false, expect.stringContaining('Expected a number from 0 to 100')]);
  });

  it('sets how long results are kept, and shows it', async () => {
    const set = (seconds: string) => answerOf(env, 'workspace', 'set', 'narrow', '--result-seconds', seconds);
    expect(await set('3600')).toMatchObject({ result_retention_seconds: 3600 });
    expect((await runAdmin(env, 'workspace', 'show', 'narrow')).out).toMatch(
      /^results +kept for 3600 seconds$/m,
    );
    expect(await set('default')).not.toHaveProperty('result_retention_seconds');
    const { code, error } = await runAdmin(env, 'workspace', 'set', 'narrow', '--result-seconds', '59');
    expect([code, error]).toEqual([2, expect.stringContaining('60')]);
  });

  it('sets and adds credits through the ledger, so that entries and balance match', async () => {
    const { id } = await answerOf<WorkspaceDocument>(env, 'workspace', 'set', 'open', '--credits-cents', '0');
    await answerOf(env, 'workspace', 'set', 'open', '--credits-cents', '300');
    expect(await answerOf(env, 'credits', 'add', 'open', '--cents', '-20', '--note', 'correction')).toEqual({
      workspace: 'open',
      added_cents: -20,
      credits_cents: 280,
      note: 'correction',
    });
    expect(await ledger(id)).toEqual([
      { amount: 100_000_000, balance: 100_000_000, note: 'opening credits' },
      { amount: -100_000_000, balance: 0, note: 'credits set' },
      { amount: 3_000_000, balance: 3_000_000, note: 'credits set' },
      { amount: -200_000, balance: 2_800_000, note: 'correction' },
    ]);
  });

  it('lifts the limit of credits and sets it again', async () => {
    const { id } = await answerOf<WorkspaceDocument>(
      env,
      'workspace',
      'create',
      'lifted',
      '--credits-cents',
      '7',
    );
    expect(await answerOf(env, 'workspace', 'set', 'lifted', '--credits-cents', 'unlimited')).toMatchObject({
      credits_cents: null,
    });
    await answerOf(env, 'workspace', 'set', 'lifted', '--credits-cents', '7');
    expect((await ledger(id)).reduce((sum, entry) => sum + entry.amount, 0)).toBe(70_000);
    await answerOf(env, 'workspace', 'set', 'lifted', '--credits-cents', '0');
  });

  it.each([
    [['workspace', 'set', 'open']],
    [['workspace', 'set', 'open', '--enabled', '--disabled']],
    [['workspace', 'create', 'a/b']],
    [['credits', 'add', '--workspace', 'open']],
    [['credits', 'add', '--workspace', 'open', '--cents', '1.5']],
    [['credits', 'add', '--workspace', 'open', '--cents', '0']],
    [['credits', 'add', 'narrow', '--workspace', 'open', '--cents', '5']],
  ])('exits with 2 for %j, and changes nothing', async (words) => {
    const { code, out, error } = await runAdmin(env, ...words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(error).toMatch(/^error: [^\n]+\n$/);
    const listed = await answerOf<{ workspaces: WorkspaceDocument[] }>(env, 'workspace', 'list');
    expect(listed.workspaces.map(({ name, credits_cents }) => [name, credits_cents])).toEqual([
      ['lifted', 0],
      ['narrow', 500],
      ['open', 280],
    ]);
  });

  it('prints a workspace for people', async () => {
    const { out } = await runAdmin(env, 'workspace', 'show', 'narrow');
    expect(out).toMatch(/^workspace {2}narrow\n/);
    for (const line of ['runnable   none', 'credits    500 cents', 'state      enabled'])
      expect(out).toContain(`\n${line}\n`);
    expect(out).toMatch(/^ALLOWANCE +LIMIT +NOW\nruns in flight +20 +0$/m);
  });

  it('prints a list for people', async () => {
    const { out } = await runAdmin(env, 'workspace', 'list');
    expect(out.split('\n')[0]).toMatch(/^NAME +STATE +CREDITS \(CENTS\) +VISIBLE +RUNNABLE +ID$/);
    expect(out).toMatch(/^open +enabled +280 +\*\* +\*\* +[0-9a-f-]{36}$/m);
  });
});
