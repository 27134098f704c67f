import { describe, expect, it } from '@jest/globals';
import { routerBudgetInput } from '#schemas';
import { v7 } from 'uuid';
import type { z } from 'zod';
import type { Admitted } from '../admission.repository.js';
import { ApiKeyRepository } from '../api-key.repository.js';
import { openRunFixture } from '../testing/run-fixture.js';
import { type AdmissionFacts, cancelled, cents, failed, succeeded } from '../testing/runs.js';

const fixture = await openRunFixture();

type Given = Partial<z.input<typeof routerBudgetInput>>;
const users = { scope: 'user', none: 'counted' } as const;

async function budget(spaceId: string, name: string, given: Given, by = fixture.first): Promise<void> {
  const input = routerBudgetInput.parse({ window: 'day', limit_cents: 10, ...given });
  expect(await by.budgets.set(spaceId, name, input, 'test')).toHaveProperty('isNew');
}

const used = async (spaceId: string, name: string, by = fixture.first) => {
  const [state] = await by.budgets.list(spaceId, name);
  return state && [state.spentMicros, state.reservedMicros];
};

const valuesOf = async (spaceId: string, name: string) =>
  (await fixture.first.budgets.values(spaceId, name, { limit: 100 })).map(
    ({ value, spentMicros, reservedMicros }) => [value, spentMicros, reservedMicros],
  );

const by = (attribution: Record<string, string>): AdmissionFacts => ({
  call: { requestId: v7(), route: 'POST /tested', origin: 'http://router.example.com', attribution },
});

const refusedBy = (admitted: Admitted) =>
  admitted.kind === 'refused' ? admitted.budget?.name : admitted.kind;

/** Admits runs one after another, of a cent each unless said otherwise, and returns how many were admitted. */
async function admitted(spaceId: string, runs: number, facts: AdmissionFacts = {}, process = fixture.first) {
  let count = 0;
  for (let nth = 0; nth < runs; nth += 1)
    if ((await process.admit(spaceId, { ...facts, runId: v7() })).kind === 'admitted') count += 1;
  return count;
}

const eventsOf = async (spaceId: string) =>
  (
    await fixture.first.sql<{
      event: { budget: string; threshold: number; value: string; spentMicros: number };
    }>(
      `SELECT event FROM webhook WHERE workspace_id = $1 AND event IS NOT NULL ORDER BY event ->> 'value', (event -> 'threshold')::integer`,
      [spaceId],
    )
  ).map(({ event }) => [event.budget, event.value, event.threshold, event.spentMicros / cents(1)]);

const raise = (from: number, until: number) => ({
  amount_cents: 3,
  from: new Date(Date.now() + from).toISOString(),
  until: new Date(Date.now() + until).toISOString(),
});

describe('a hard budget', () => {
  it('reserves at admission, settles at the outcome, and refuses what does not fit', async () => {
    const spaceId = await fixture.space();
    await budget(spaceId, 'daily', { limit_cents: 5 });
    const cheaper = await fixture.run('running', {
      spaceId,
      reservedMicros: cents(2),
      computedMicros: cents(1),
    });
    const failing = await fixture.run('running', { spaceId, reservedMicros: cents(2) });
    expect(await used(spaceId, 'daily')).toEqual([0, cents(4)]);
    const refused = await fixture.first.admit(spaceId, { reservedMicros: cents(2), key: 'refused' });
    expect(refused).toMatchObject({
      kind: 'refused',
      limit: 'budget',
      budget: {
        name: 'daily',
        window: 'day',
        limitMicros: cents(5),
        spentMicros: 0,
        reservedMicros: cents(4),
        resetsAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00\+00:00$/),
      },
    });
    expect(
      await fixture.first.sql(`SELECT 1 FROM idempotency_key WHERE workspace_id = $1`, [spaceId]),
    ).toEqual([]);
    await fixture.first.finish(cheaper.runId, cheaper.epoch, succeeded);
    expect(await used(spaceId, 'daily')).toEqual([cents(1), cents(2)]);
    await fixture.first.finish(failing.runId, failing.epoch, failed('provider_error'));
    expect(await used(spaceId, 'daily')).toEqual([cents(1), 0]);
    expect(await admitted(spaceId, 10)).toBe(4);
  });
});

describe('the runs that count', () => {
  it('are those of the scope: all runs, a key, an end user, a tag, or models', async () => {
    const spaceId = await fixture.space();
    const key = v7();
    await fixture.first.sql(
      `INSERT INTO api_key (id, workspace_id, name, prefix, hash, scopes) VALUES ($1, $2, 'key', $3, '', '{run}')`,
      [key, spaceId, key],
    );
    const scopes: Record<string, Given> = {
      all: {},
      key: { scope: 'key', value: key },
      keys: { scope: 'key' },
      anna: { scope: 'user', value: 'anna' },
      nobody: { scope: 'user', value: '' },
      users,
      alpha: { scope: 'tag:project', value: 'alpha' },
      projects: { scope: 'tag:project' },
      tested: { scope: 'model', value: 'tested/*' },
      every: { scope: 'model', value: '*' },
      exact: { scope: 'model', value: 'tested/mod.l' },
      one: { scope: 'model', value: 'test*' },
    };
    for (const [name, given] of Object.entries(scopes)) await budget(spaceId, name, given);
    await fixture.first.run(spaceId);
    await fixture.first.run(spaceId, {
      credential: `key:${key}`,
      ...by({ user: 'anna', 'tag:project': 'alpha' }),
    });
    await fixture.first.run(spaceId, by({ user: 'bob', 'tag:project': 'beta', 'tag:team': 'web' }));
    const counted = await fixture.first.budgets.list(spaceId);
    expect(
      Object.fromEntries(
        counted.flatMap(({ name, reservedMicros: micros }) => (micros === null ? [] : [[name, micros]])),
      ),
    ).toEqual({
      all: cents(3),
      key: cents(1),
      anna: cents(1),
      nobody: cents(1),
      alpha: cents(1),
      tested: cents(3),
      every: cents(3),
      exact: 0,
      one: 0,
    });
    expect(await valuesOf(spaceId, 'keys')).toEqual([
      [`key:${key}`, 0, cents(1)],
      ['token', 0, cents(2)],
    ]);
    expect(await valuesOf(spaceId, 'users')).toEqual(
      ['', 'anna', 'bob'].map((value) => [value, 0, cents(1)]),
    );
    expect(await valuesOf(spaceId, 'projects')).toEqual(
      ['alpha', 'beta'].map((value) => [value, 0, cents(1)]),
    );
  });

  it('of a key that was rotated count together with those of its successors', async () => {
    const spaceId = await fixture.space();
    const keys = new ApiKeyRepository(fixture.first.database);
    const facts = { name: 'web', scopes: ['run'], expiresAt: null };
    const { row: former } = await keys.create(spaceId, facts, { actor: 'test' });
    await budget(spaceId, 'each', { scope: 'key', limit_cents: 3 });
    const run = (id: string | undefined) => admitted(spaceId, 1, { credential: `key:${id}` });
    expect(await run(former.id)).toBe(1);
    const next = (await keys.rotate(former.id, 60, { actor: 'test' }))?.row;
    const last = (await keys.rotate(next?.id ?? '', 60, { actor: 'test' }))?.row;
    await budget(spaceId, 'one', { scope: 'key', value: last?.id ?? '' });
    expect([await run(last?.id), await run(next?.id), await run(former.id), await run(last?.id)]).toEqual([
      1, 1, 0, 0,
    ]);
    expect(await valuesOf(spaceId, 'each')).toEqual([[`key:${former.id}`, 0, cents(3)]]);
    expect(await used(spaceId, 'one')).toEqual([0, cents(2)]);
    // Its records may be deleted long before its successors end.
    await fixture.first.sql('DELETE FROM api_key WHERE id = $1', [former.id]);
    await budget(spaceId, 'one', { scope: 'key', value: former.id });
    expect(await used(spaceId, 'one')).toEqual([0, cents(2)]);
  });

  it('must fit each budget; each value has the limit for itself, and a refused run reserves nothing', async () => {
    const spaceId = await fixture.space();
    await budget(spaceId, 'all', { limit_cents: 4 });
    await budget(spaceId, 'users', { ...users, limit_cents: 2 });
    expect(await admitted(spaceId, 4, by({ user: 'anna' }))).toBe(2);
    expect(refusedBy(await fixture.first.admit(spaceId, by({ user: 'anna' })))).toBe('users');
    expect(await admitted(spaceId, 3)).toBe(2);
    expect(refusedBy(await fixture.first.admit(spaceId, by({ user: 'bob' })))).toBe('all');
    expect(await used(spaceId, 'all')).toEqual([0, cents(4)]);
    expect(await valuesOf(spaceId, 'users')).toEqual(['', 'anna'].map((value) => [value, 0, cents(2)]));
  });

  it('are reserved while parked, and promotion reserves nothing more', async () => {
    const spaceId = await fixture.space({ inflightLimit: 1 });
    await budget(spaceId, 'daily', { limit_cents: 3 });
    const first = await fixture.run('running', { spaceId });
    const parked = await fixture.first.run(spaceId);
    expect(await fixture.first.stageOf(parked)).toBe('parked');
    expect(await used(spaceId, 'daily')).toEqual([0, cents(2)]);
    await budget(spaceId, 'daily', { limit_cents: 1 });
    await fixture.first.finish(first.runId, first.epoch, succeeded);
    expect(await fixture.first.stageOf(parked)).toBe('ready');
    expect(await used(spaceId, 'daily')).toEqual([cents(1), cents(1)]);
    await fixture.first.finish(parked, 0, cancelled);
    expect(await used(spaceId, 'daily')).toEqual([cents(1), 0]);
  });

  it('include no run of a workspace without budgets', async () => {
    const { runId } = await fixture.run('completed');
    const { run, audit } = await fixture.written(runId);
    expect([run, audit]).toEqual(Array(2).fill(expect.objectContaining({ budget_windows: null })));
  });
});

describe('a soft budget', () => {
  it('counts and never refuses', async () => {
    const spaceId = await fixture.space();
    await budget(spaceId, 'watched', { kind: 'soft', limit_cents: 1 });
    expect(await admitted(spaceId, 3)).toBe(3);
    expect(await used(spaceId, 'watched')).toEqual([0, cents(3)]);
  });
});

describe('an event', () => {
  it('is written once in a window for each share of the limit that is spent, hard or soft', async () => {
    const spaceId = await fixture.space();
    const webhook_url = 'https://hooks.example.com/budgets?x=1';
    await budget(spaceId, 'silent', { limit_cents: 1, kind: 'soft' });
    await budget(spaceId, 'hard', { limit_cents: 10, webhook_url });
    await budget(spaceId, 'users', { ...users, limit_cents: 4, kind: 'soft', webhook_url });
    for (let nth = 0; nth < 4; nth += 1) await fixture.run('completed', { spaceId });
    expect(await eventsOf(spaceId)).toEqual([
      ['users', '', 50, 2],
      ['users', '', 80, 4],
      ['users', '', 100, 4],
    ]);
    await fixture.run('completed', { spaceId, reservedMicros: cents(5), ...by({ user: 'anna' }) });
    await fixture.run('completed', { spaceId });
    await budget(spaceId, 'hard', { limit_cents: 20, webhook_url });
    await fixture.run('completed', { spaceId, reservedMicros: cents(9) });
    const hard = (await eventsOf(spaceId)).filter(([name]) => name === 'hard');
    expect(hard).toEqual([
      ['hard', '', 50, 9],
      ['hard', '', 80, 9],
      ['hard', '', 100, 10],
    ]);
    const [row] = await fixture.first.sql(
      `SELECT url, receiver, form, model, due_at <= router_now() AS due, tries FROM webhook WHERE workspace_id = $1 LIMIT 1`,
      [spaceId],
    );
    expect(row).toEqual({
      url: webhook_url,
      receiver: 'https://hooks.example.com',
      form: 'standard',
      model: 'budget.threshold',
      due: true,
      tries: 0,
    });
    // A new window notifies anew.
    await fixture.run('completed', { spaceId, by: fixture.at('25 hours'), reservedMicros: cents(2) });
    expect((await eventsOf(spaceId)).filter(([name]) => name === 'users')).toHaveLength(3 + 3 + 1);
  });
});

describe('a window', () => {
  it('takes what was reserved in it, however late the run ends', async () => {
    const spaceId = await fixture.space();
    await budget(spaceId, 'daily', { limit_cents: 2 });
    const late = await fixture.run('running', { spaceId });
    const tomorrow = fixture.at('25 hours');
    expect(await admitted(spaceId, 4, {}, tomorrow)).toBe(2);
    await tomorrow.finish(late.runId, late.epoch, succeeded);
    expect(await used(spaceId, 'daily')).toEqual([cents(1), 0]);
    expect(await used(spaceId, 'daily', tomorrow)).toEqual([0, cents(2)]);
    // The clock of a database may be put back: the earlier window counts on.
    expect(await admitted(spaceId, 4)).toBe(1);
  });

  it.each([
    ['day', 'UTC', '2026-03-29T12:00Z', '2026-03-29T00:00Z', '2026-03-30T00:00Z'],
    ['day', 'Europe/Berlin', '2026-03-29T12:00Z', '2026-03-28T23:00Z', '2026-03-29T22:00Z'],
    ['day', 'Europe/Berlin', '2026-10-25T00:30Z', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
    ['day', 'Europe/Berlin', '2026-10-25T01:30Z', '2026-10-24T22:00Z', '2026-10-25T23:00Z'],
    // Midnight does not exist.
    ['day', 'Africa/Cairo', '2026-04-24T12:00Z', '2026-04-23T22:00Z', '2026-04-24T21:00Z'],
    ['day', 'Asia/Kathmandu', '2026-05-05T18:15Z', '2026-05-05T18:15Z', '2026-05-06T18:15Z'],
    ['week', 'America/New_York', '2026-03-08T12:00Z', '2026-03-02T05:00Z', '2026-03-09T04:00Z'],
    ['week', 'UTC', '2026-11-23T00:00Z', '2026-11-23T00:00Z', '2026-11-30T00:00Z'],
    ['month', 'UTC', '2028-02-29T23:59Z', '2028-02-01T00:00Z', '2028-03-01T00:00Z'],
    ['month', 'Pacific/Auckland', '2026-12-31T11:00Z', '2026-12-31T11:00Z', '2027-01-31T11:00Z'],
    ['total', 'UTC', '2026-12-31T11:00Z', null, null],
  ])('of a %s in %s at %s is from %s until %s', async (period, zone, at, starts, ends) => {
    const [bounds] = await fixture.first.sql<{ starts: Date | null; ends: Date | null }>(
      `SELECT nullif(starts_at, '-infinity') AS starts, nullif(ends_at, 'infinity') AS ends FROM budget_bounds($1, $2, $3)`,
      [period, zone, at],
    );
    const dates = [starts, ends].map((each) => (each === null ? null : new Date(each.replace('Z', ':00Z'))));
    expect([bounds?.starts, bounds?.ends]).toEqual(dates);
  });

  it('keeps what it counted when its length or time zone changes, and starts anew with another scope', async () => {
    const spaceId = await fixture.space();
    const yesterday = fixture.at('-25 hours');
    await budget(spaceId, 'changed', { limit_cents: 5 }, yesterday);
    await yesterday.run(spaceId);
    const live = await fixture.run('running', { spaceId });
    await fixture.run('completed', { spaceId, reservedMicros: cents(2) });
    for (const given of [
      { window: 'month' },
      { window: 'total' },
      { time_zone: 'Asia/Tokyo' },
      { window: 'week' },
    ] as Given[]) {
      await budget(spaceId, 'changed', { limit_cents: 5, ...given });
      expect(await used(spaceId, 'changed')).toEqual([cents(2), cents(1)]);
    }
    expect(await admitted(spaceId, 4)).toBe(2);
    await fixture.first.finish(live.runId, live.epoch, succeeded);
    expect(await used(spaceId, 'changed')).toEqual([cents(3), cents(2)]);
    await budget(spaceId, 'changed', { scope: 'user', value: 'anna' });
    expect(await used(spaceId, 'changed')).toEqual([0, 0]);
  });

  it('is forgotten 35 days after its end, unless a live run is counted in it', async () => {
    const spaceId = await fixture.space();
    await budget(spaceId, 'users', { scope: 'user' });
    await fixture.run('completed', { spaceId });
    const live = await fixture.run('running', { spaceId, ...by({ user: 'anna' }) });
    const later = fixture.at('37 days');
    const windows = () =>
      fixture.first.sql(
        'SELECT its.value FROM budget_window AS its JOIN budget ON budget.id = budget_id WHERE workspace_id = $1',
        [spaceId],
      );
    await later.retention.deleteOld('budget_window');
    expect(await windows()).toEqual([{ value: 'anna' }]);
    await later.finish(live.runId, live.epoch, succeeded);
    await later.retention.deleteOld('budget_window');
    expect(await windows()).toEqual([]);
  });
});

describe('a change', () => {
  it('of the limit, and a raise while it lasts, apply to the next run', async () => {
    const spaceId = await fixture.space();
    await budget(spaceId, 'daily', { limit_cents: 2 });
    expect(await admitted(spaceId, 3)).toBe(2);
    const hour = 3_600_000;
    await budget(spaceId, 'daily', {
      window: 'total',
      limit_cents: 2,
      raises: [raise(hour, 2 * hour), raise(2 * hour, 3 * hour)],
    });
    expect(await admitted(spaceId, 1)).toBe(0);
    expect(await admitted(spaceId, 4, {}, fixture.at('90 minutes'))).toBe(3);
    expect(await admitted(spaceId, 1, {}, fixture.at('150 minutes'))).toBe(0);
    expect(await admitted(spaceId, 1, {}, fixture.at('181 minutes'))).toBe(0);
    await budget(spaceId, 'daily', { window: 'total', limit_cents: 6 });
    expect(await admitted(spaceId, 3)).toBe(1);
    await budget(spaceId, 'daily', { window: 'total', limit_cents: 1, kind: 'soft' });
    expect(await admitted(spaceId, 3)).toBe(3);
  });

  it('to deleted leaves its live runs as they are, and a new budget with the name counts from 0', async () => {
    const spaceId = await fixture.space();
    await budget(spaceId, 'daily', {});
    const live = await fixture.run('running', { spaceId });
    expect(await fixture.first.budgets.delete(spaceId, 'daily', 'test')).toBe(true);
    expect(await fixture.first.budgets.delete(spaceId, 'daily', 'test')).toBe(false);
    await budget(spaceId, 'daily', {});
    expect(await fixture.first.finish(live.runId, live.epoch, succeeded)).toMatchObject({ won: true });
    expect(await used(spaceId, 'daily')).toEqual([0, 0]);
    const actions = await fixture.first.sql(
      `SELECT action FROM operator_action WHERE subject = 'daily' AND details ->> 'workspace' = (SELECT name FROM workspace WHERE id = $1) ORDER BY id`,
      [spaceId],
    );
    expect(actions.map((each) => Object.values(each)[0])).toEqual([
      'budget.set',
      'budget.delete',
      'budget.set',
    ]);
    expect(await fixture.first.workspaces.delete(spaceId, 'test')).toBe(true);
  });

  it('is refused for a time zone that the database does not know, a key of others, and a 51st budget', async () => {
    const spaceId = await fixture.space();
    const input = routerBudgetInput.parse({ window: 'day', limit_cents: 1 });
    const set = (name: string, given: object) =>
      fixture.first.budgets.set(spaceId, name, { ...input, ...given }, 'test');
    expect(await set('a', { time_zone: 'Europe/Atlantis' })).toEqual({ refused: 'time_zone' });
    expect(await set('a', { scope: 'key', value: v7() })).toEqual({ refused: 'key' });
    for (let nth = 0; nth < 50; nth += 1) await set(`budget-${nth}`, {});
    expect(await set('a', {})).toEqual({ refused: 'too_many' });
    expect(await set('budget-0', {})).toEqual({ isNew: false });
  });
});

it('a refund is no longer spent, in the window of its run', async () => {
  const spaceId = await fixture.space({ balanceMicros: cents(10) });
  await budget(spaceId, 'daily', {});
  const { runId } = await fixture.run('completed', { spaceId });
  await fixture.run('completed', { spaceId });
  const [refund] = await fixture.first.sql(`SELECT refused FROM refund_run($1, 'test', 'refund')`, [runId]);
  expect(refund).toEqual({ refused: null });
  expect(await used(spaceId, 'daily')).toEqual([cents(1), 0]);
});
